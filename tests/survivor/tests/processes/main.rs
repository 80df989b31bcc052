//! Processes that are killed or stopped again and again come to the same as one that is left alone.

// They are stopped by signals.
#![cfg(unix)]

mod clocks;
mod database;
mod elsewhere;
mod grave;
mod kills;
mod mail;
mod stops;
mod support;
mod sweep;
mod verdict;
mod wakes;
mod workers;
