#![doc = include_str!("../README.md")]

mod dialogue;
mod legible;
#[cfg(feature = "program")]
mod program;
mod terminal;

#[cfg(feature = "program")]
pub use program::Program;
pub use terminal::Terminal;
