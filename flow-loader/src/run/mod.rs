//! The loop over the nodes of a loaded flow. It makes the same calls of the engine, in the same
//! order, as the code that `flow!` generates.

mod branches;
mod conditions;
mod each;
mod engine;
mod give_way;
mod items;
mod join;
mod results;
mod state;
mod step;
mod undo;
mod visit;

pub use engine::{LoadedEngine, LoadedNode};
pub(crate) use give_way::counted;
pub use state::LoadedState;
pub(crate) use state::{returned, written};
pub(crate) use visit::drive;
