//! Processes that are killed or stopped again and again come to the same as one that is left alone.

mod clocks;
mod database;
mod elsewhere;
mod grave;
mod kills;
mod stops;
mod support;
mod sweep;
mod verdict;
mod wakes;
mod workers;
