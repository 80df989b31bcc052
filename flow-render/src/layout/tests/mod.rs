//! The layout of `flow!`: each rule, all flows of this repository, and sources made at random.

mod proof;
mod random;
mod repository;
mod rules;
