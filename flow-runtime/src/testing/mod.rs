#![doc = include_str!("../../docs/testing.md")]

mod engine;
mod never;
mod scripted;
mod scripts;
mod visited;

pub use engine::ScriptedEngine;
pub use never::Never;
pub use scripted::Scripted;
#[cfg(feature = "stored")]
pub use visited::WithValues;
pub use visited::{NoValues, ScriptedRun, Visited};
