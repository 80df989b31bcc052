//! Pictures of a flow with everything that a flow can have, and of random ones.

mod browser;
mod deceptive;
mod flows;
mod large;
mod notations;
mod page;
mod svg;
