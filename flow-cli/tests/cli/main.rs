//! The program as its users see it, and the reader of sections on files of every kind.

mod check;
mod command_line;
mod diff;
mod errors;
#[cfg(feature = "executions")]
mod executions;
mod export;
mod files;
mod fmt;
mod formats;
mod hostile;
mod limits;
mod list;
mod mutations;
mod new;
mod package;
mod pages;
mod program;
mod render;
mod source;
mod undo;
mod workflows;
mod yaml;
