#![doc = include_str!("../README.md")]

mod dialogue;
#[cfg(feature = "executions")]
mod executions;
mod legible;
#[cfg(any(feature = "executions", feature = "program"))]
mod output;
#[cfg(feature = "program")]
mod program;
mod terminal;

#[cfg(feature = "executions")]
pub use executions::{ExecutionCommands, InvalidStore, StoreAddress};
#[cfg(any(feature = "executions", feature = "program"))]
pub use output::{Outcome, exit_code};
#[cfg(feature = "program")]
pub use program::{InputArguments, Program};
pub use terminal::Terminal;
