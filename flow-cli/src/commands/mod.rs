//! The commands. Each takes its arguments, and writes to the screen.

mod check;
mod completions;
mod diff;
#[cfg(feature = "executions")]
mod executions;
mod export;
mod fmt;
mod list;
mod new;
mod render;
mod source;

use flow_spec::FlowDocument;

use crate::Text;
use crate::style::BOLD;

pub(crate) use check::check;
pub(crate) use completions::completions;
pub(crate) use diff::diff;
#[cfg(feature = "executions")]
pub(crate) use executions::executions;
pub(crate) use export::export;
pub(crate) use fmt::fmt;
pub(crate) use list::list;
pub(crate) use new::new;
pub(crate) use render::render;
pub(crate) use source::source;

/// Returns the heading of a flow among several: `Qa (qa)`.
fn heading(flow: &FlowDocument) -> Text {
    let mut text = Text::default();
    text.push_styled(BOLD, flow.title());
    if !flow.namespace.is_empty() && !flow.name.is_empty() {
        text.push(format!(" ({})", flow.namespace));
    }
    text.end_line();
    text
}
