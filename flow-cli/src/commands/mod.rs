//! The commands. Each takes its part of the command line, and writes to the screen.

mod check;
mod completions;
mod diff;
mod export;
mod list;
mod render;

use flow_spec::FlowDocument;

use crate::style::{BOLD, printable, styled};

pub(crate) use check::check;
pub(crate) use completions::completions;
pub(crate) use diff::diff;
pub(crate) use export::export;
pub(crate) use list::list;
pub(crate) use render::render;

/// The line above what is said of a flow, where there are several: `Qa (qa)`.
fn heading(flow: &FlowDocument) -> String {
    let title = styled(BOLD, printable(flow.title()));
    match flow.namespace.is_empty() || flow.name.is_empty() {
        true => title,
        false => format!("{title} ({})", printable(&flow.namespace)),
    }
}
