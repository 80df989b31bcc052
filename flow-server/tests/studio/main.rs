//! The studio in a real browser.

mod access;
#[cfg(feature = "definitions")]
mod attacks;
mod browser;
#[cfg(feature = "definitions")]
mod definitions;
mod flows;
mod forms;
mod live;
mod looks;
mod page;
mod people;
mod reconnect;
mod server;
mod size;
mod text;
