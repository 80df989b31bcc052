//! The entry points as functions from tokens to tokens: whatever the input is, they return code
//! that parses.

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
