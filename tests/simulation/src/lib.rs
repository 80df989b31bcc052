//! A simulation of durable runs: random flows, stopped everywhere, under a clock and a scheduler that follow from one seed.
//!
//! A case is a flow, a seed and what goes wrong, in one line. The flows are made while this crate is built, and their nodes
//! decide by hashes of the seed and of their step what they do. Each process is a tokio runtime on one thread whose clock stands
//! still; it crashes by being dropped, and is stopped by not being driven. All processes see one store, which a witness stands
//! before: it sees what is stored and what runs, and holds it against the laws.
//!
//! - The result, what each step reads and what comes of it are those of the undisturbed run (where that is no matter of chance).
//! - No step with a recorded outcome runs again, and none before what it can see is stored.
//! - A step reads the same in all lives of its execution, also where steps return something else in each.
//! - Every accepted answer arrives, unless what asked was over.
//! - There is no error that the store was not told to make, no panic, and no case without end.
//! - Journals have no gaps, one outcome for each step, and nothing in a frame after its end; what was stored stays.
//! - A fork from the last record of an execution that is over runs nothing, and comes to the same end. One from any record comes
//!   to the same end as well, and the state at any record can be looked at.
//! - What returns an error has had no effect. This is known to be broken, and only counted.
//!
//! `cargo run -p flow-simulation -- --cases 100000 --seed 7` runs many; a failure is made small and printed as a command that
//! repeats it, `-- --case '…'`, which prints all that happens. That it finds mistakes was tried with some made on purpose: visits
//! counted per path in the whole run, a wait whose end is not recorded, outcomes that are handed out of order.

mod case;
mod flows;
mod laws;
mod nodes;
mod run;
mod search;
mod store;
mod world;

pub use search::{Failure, Found, search, told};
