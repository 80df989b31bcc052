#![doc = include_str!("../../docs/testing.md")]

mod engine;
mod scripted;
mod visited;

pub use engine::ScriptedEngine;
pub use scripted::Scripted;
#[cfg(feature = "stored")]
pub use visited::WithValues;
pub use visited::{NoValues, ScriptedRun, Visited};
