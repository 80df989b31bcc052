//! Tests of the workspace as a whole; see `integration` and `ui`.

/// The program of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
