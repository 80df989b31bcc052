#![doc = include_str!("../README.md")]
//!
//! # Reading and writing
//!
//! [`read`] reads a document, or a workflow of another tool ([`Notation`]). It reports all problems
//! at once, each with its line and column and its JSON pointer. [`Document::check`] adds those of
//! the analysis, with the codes and sentences of `flow!`. [`to_yaml`] writes a document as YAML.
//!
//! The hard thing is the place of each value. A text is therefore read into a tree of places next
//! to the values. `serde_json` reads JSON itself. YAML becomes the same values by the rules of YAML
//! 1.2, so that no user of a document can tell in which format it was written.
//!
//! # YAML
//!
//! The YAML of a document has the fields of its JSON, under the same names. Comments are allowed,
//! and so are anchors and aliases, as long as the values of the aliases are not larger than 4 MiB.
//! YAML with any of these is refused:
//!
//! - a name that occurs twice in one object, or that is not a string;
//! - tags (`!!str`) and the merge key `<<` of YAML 1.1;
//! - several documents in one file;
//! - numbers that JSON does not have: `.inf` and `.nan`.
//!
//! As YAML 1.2 says, `yes`, `no`, `on` and `off` are strings.

mod advice;
mod content;
mod document;
mod format;
mod import;
mod json;
mod problem;
mod tree;
mod yaml;

pub use content::{Lost, MOST_VALUES};
pub use document::{Document, LARGEST, check_all, read, read_all};
pub use format::Format;
pub use import::Notation;
pub use problem::{Place, Problem};
pub use yaml::to_yaml;
