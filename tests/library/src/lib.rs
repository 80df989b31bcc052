//! Nodes and a flow for other crates: a small desk that answers questions.

pub mod desk;
#[cfg(feature = "documents")]
mod documents;
pub mod nodes;

pub use desk::{Desk, DeskEnd, DeskInput, DeskNode, DeskOutput};
#[cfg(feature = "documents")]
pub use documents::registry;
pub use nodes::answer as reply;
pub use nodes::{Lookup, classify};
