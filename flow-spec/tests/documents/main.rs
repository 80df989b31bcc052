//! The document of a flow: how it is read and written, its JSON Schema, what its diff finds, and
//! the pages about it.
//!
//! Properties run 256 cases each; `PROPTEST_CASES=10000 cargo test -p typed-flows-spec --test documents`
//! runs more.

mod conformance;
#[path = "../properties/dice.rs"]
mod dice;
mod diffs;
mod generate;
mod limits;
mod mutate;
mod pages;
mod reading;
mod round_trip;
mod schema;
mod soundness;
mod undo;
