//! Runs that survive: journals, recovery, questions, leases, and looks into the past.

mod changed;
mod damaged;
mod endings;
mod events;
mod executions;
mod expiry;
mod flows;
mod forked;
mod gates;
mod leases;
mod mixed;
mod people;
mod places;
mod prefixes;
mod questions;
mod recovery;
mod simulated;
mod snapshots;
mod steps;
mod stopped;
mod stores;
mod support;
mod timing;
mod travel;
