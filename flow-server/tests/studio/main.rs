//! The studio in a real browser.

mod access;
#[cfg(feature = "definitions")]
mod attacks;
mod browser;
#[cfg(feature = "definitions")]
mod definition_forms;
#[cfg(feature = "definitions")]
mod definition_saving;
#[cfg(feature = "definitions")]
mod definitions;
#[cfg(feature = "definitions")]
mod editing;
mod flows;
mod forms;
mod live;
mod looks;
mod page;
mod people;
mod reconnect;
mod retried;
mod server;
mod signals;
mod size;
mod text;
mod undoing;
