//! The studio in a real browser.

mod browser;
mod flows;
mod live;
mod page;
mod people;
mod server;
