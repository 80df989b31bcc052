//! Nodes and a flow for other crates: a small desk that answers questions.

pub mod desk;
pub mod nodes;

pub use desk::{Desk, DeskEnd, DeskInput, DeskNode, DeskOutput};
pub use nodes::answer as reply;
pub use nodes::{Lookup, classify};
