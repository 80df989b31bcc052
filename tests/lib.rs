//! Tests of the workspace as a whole; see `integration` and `ui`.

/// The program of the README of `flow-macros`, which cannot depend on `flow-runtime`.
#[cfg(doctest)]
#[doc = include_str!("../flow-macros/README.md")]
struct ReadmeOfMacros;
