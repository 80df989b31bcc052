//! Runs that survive: journals, recovery, questions, leases, and looks into the past.

mod recovery;
mod support;
