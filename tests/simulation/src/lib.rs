//! A simulation of durable runs: random flows, stopped everywhere, under a clock and a scheduler that follow from one seed.

mod case;
mod flows;
mod laws;
mod nodes;
mod run;
mod search;
mod store;
mod world;

pub use search::{Failure, Found, search, told};
