//! A flow as JSON. The format is that of BackpackFlow, a TypeScript library, as its design document
//! PRD-004 describes it. Fields were added, and none was changed.
//!
//! Fields are written in the order in which they are declared here, and lists in the order in which
//! the flow declares them, so that the same source always gives the same bytes. A [`FlowDocument`]
//! that was parsed is written unchanged. `docs/flow-json.md` describes the format, and [`SCHEMA`]
//! describes it for programs.

mod check;
mod edge;
mod flow;
mod ids;
mod node;
pub(crate) mod problem;
mod read;
mod reference;
mod schema;
mod settings;

pub use edge::{EdgeDocument, EndDocument};
pub use flow::FlowDocument;
pub use node::{ActionDocument, MappingsDocument, NodeDocument};
pub use problem::{MOST_PROBLEMS, Problem, Problems};
pub use reference::{TextError, TextPart, escape_text, text_parts};
pub use schema::{ADD, DEFAULT, DEFAULT_OMITTED, Property, Schema, property, with_schema};
pub use settings::{PollSettings, RetrySettings, SettingsDocument};

/// Functions that read documents, for the readers of other formats in `flow-text`, which report the
/// same mistakes in the same words. Not part of the public interface.
#[doc(hidden)]
pub mod __private {
    pub use super::problem::inside;
    pub use super::read::object::{Object, wrong};
    pub use crate::names::composed;
}

/// The version of the format that this crate reads and writes.
pub const VERSION: &str = "2.0.0";

/// The JSON Schema (draft 2020-12) of a flow's document, for editors and for validators in other
/// languages.
///
/// It describes only the shape. It cannot express that an edge leads to a node that exists, or that
/// the flow is sound: see [`FlowDocument::parse`] and [`FlowDocument::check`].
pub const SCHEMA: &str = include_str!("../../schema/flow.schema.json");

/// The name in the `outputs` of a node for the only value that it writes, whatever its name in the
/// program.
pub const ONLY_OUTPUT: &str = "*";

/// The text in place of a secret.
pub const MASK: &str = "***";

/// The default number of levels of nested flows in an export.
pub const DEFAULT_DEPTH: usize = 10;

/// The maximum number of levels of flows in a document. Deeper documents are refused, because their
/// author cannot have meant them.
pub const DEEPEST: usize = 32;

/// The types of the nodes of the language. They contain a dot, which Rust names do not.
pub mod types {
    /// Branches that run at the same time: `params.branches`, a list of lists of node ids.
    pub const FORK: &str = "flow.fork";
    /// Branches that run at the same time, of which the first one that is done decides:
    /// `params.branches`, each `{ steps, action }`, with a list of node ids. Without an `action`,
    /// the branch takes that of its last node.
    pub const FIRST: &str = "flow.first";
    /// A loop over items: `params.item` and `params.over` (keys), and `params.body` (a node id).
    pub const EACH: &str = "flow.each";
    /// Conditions: `params.cases`, each `{ when, action }`, and `params.otherwise`.
    pub const BRANCH: &str = "flow.branch";
    /// A pause: `params.duration`.
    pub const WAIT: &str = "flow.wait";
    /// Undoes the visits so far to nodes with the setting `undo`, the newest first.
    pub const UNDO: &str = "flow.undo";
    /// Forgets the visits so far: they are not undone any more.
    pub const COMMIT: &str = "flow.commit";
    /// An answer from outside the program: `params.prompt`, and `params.expects`, the type of the
    /// answer.
    pub const HUMAN: &str = "flow.human";
    /// A message from outside the program: `params.expects`, its type, or `params.name`, the name
    /// of a signal with any JSON.
    pub const SIGNAL: &str = "flow.signal";
    /// All of these types.
    pub const ALL: [&str; 9] = [FORK, FIRST, EACH, BRANCH, WAIT, UNDO, COMMIT, HUMAN, SIGNAL];
}
