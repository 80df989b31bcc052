#![doc = include_str!("../README.md")]
//!
//! # Graphs and documents
//!
//! One of the front ends (the `flow!` macro, a JSON loader) builds a [`Graph`] and passes it to
//! [`check`], which returns a [`CheckedGraph`] or every [`Diagnostic`] that it found. A diagnostic
//! names a [`Site`] in the graph; each front end knows where its user wrote that site (a span, a
//! JSON pointer).
//!
//! A [`FlowDocument`] is a flow as JSON. This crate also reads, checks and queries documents, and
//! compares two versions of one ([`diff()`]). The crate `flow-render` draws them.
//!
//! This crate contains the whole analysis, which other crates do not repeat.

mod analysis;
mod diagnostic;
pub mod diff;
pub mod document;
mod graph;
mod names;
mod query;
mod suggest;
mod visible;

pub use analysis::{
    CheckedGraph, Compared, Reader, Take, check, check_types, options, written_at_ends,
};
pub use diagnostic::{Code, Diagnostic, Site};
pub use diff::{Diff, diff};
pub use document::{FlowDocument, NodeDocument, Problem, property};
pub use graph::{
    Action, Branch, DEFAULT_ACTION, ERROR_ACTION, ERROR_KEY, Edge, EdgeMapping, EdgePart,
    EdgeSource, EdgeTarget, Graph, Input, Node, NodeId, NodeKind, NodeRead, NodeWrite, Output,
    RaceBranch, ReadMode, TIMEOUT_ACTION,
};
pub use names::{RESERVED_NAMES, camel_case, rust_name, short_name, snake_case};
pub use query::{EdgeAt, NodeAt, Paths, SignalAt, Step, node_path};
pub use suggest::{closest, did_you_mean, did_you_mean_text};
pub use visible::{deceptive, is_deceptive, visible, visible_json};
