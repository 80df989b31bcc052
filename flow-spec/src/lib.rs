//! What a flow *is*, as plain data, and whether it is sound.
//!
//! A [`Graph`] is written down by one of the front ends (the `flow!` macro, a JSON loader) and
//! handed to [`check`], which answers with a [`CheckedGraph`] or with every [`Diagnostic`] it
//! found. A diagnostic names a [`Site`] in the graph; each front end knows where its user wrote
//! that site (a span, a JSON pointer).
//!
//! A [`FlowDocument`] is a flow as JSON. It is read and checked here as well, asked questions, and
//! compared with an older version of itself ([`diff()`]). The crate `flow-render` draws it.
//!
//! This crate knows neither macros nor `async`: nothing is analysed twice, and nothing is analysed
//! elsewhere.

mod analysis;
mod diagnostic;
pub mod diff;
pub mod document;
mod graph;
mod query;
mod suggest;
mod visible;

pub use analysis::{CheckedGraph, Compared, Take, check, check_types};
pub use diagnostic::{Code, Diagnostic, Site};
pub use diff::{Diff, diff};
pub use document::{FlowDocument, NodeDocument, Problem, property};
pub use graph::{
    Action, Branch, DEFAULT_ACTION, ERROR_ACTION, ERROR_KEY, Edge, EdgePart, EdgeSource,
    EdgeTarget, Graph, Input, Node, NodeId, NodeKind, NodeRead, NodeWrite, Output, ReadMode,
    TIMEOUT_ACTION,
};
pub use query::{EdgeAt, NodeAt, Paths, Step, node_path};
pub use suggest::{closest, did_you_mean, did_you_mean_text};
pub use visible::{is_deceptive, visible, visible_json};
