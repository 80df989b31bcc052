//! The entry points as functions from tokens to tokens: they return code that parses, whatever the
//! input is.

mod corpus;
mod determinism;
mod editor;
mod goldens;
mod growth;
mod mutation;
mod output;
mod plan;
mod properties;
mod rustc;
mod undo;
