//! Pictures of a flow with everything that a flow can have, and of random ones.

#[cfg(feature = "svg")]
mod browser;
#[cfg(feature = "svg")]
mod deceptive;
mod flows;
mod notations;
#[cfg(feature = "svg")]
mod page;
#[cfg(feature = "svg")]
mod svg;
