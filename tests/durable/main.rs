//! Runs that survive: journals, recovery, questions, leases, and looks into the past.

mod accesses;
mod additions;
mod agents;
mod asking;
mod blobs;
mod budgets;
mod cancelling;
mod changed;
mod conversations;
mod copied;
mod damaged;
mod documents;
mod drained;
mod effects;
mod elsewhere;
mod endings;
mod events;
mod executions;
mod expiry;
mod flows;
mod followed;
mod gates;
mod halts;
mod hinted;
mod judged;
mod judged_at_random;
mod knowledge;
mod leases;
mod loops;
mod lost_replies;
mod mixed;
mod outcomes;
mod panics;
mod people;
mod places;
mod prefixes;
mod questions;
mod queue;
mod races;
mod rag;
mod recovery;
mod renamed;
mod retries;
mod schedules;
mod settings;
mod signals;
mod simulated;
mod snapshots;
mod spread;
mod spread_changed;
mod spread_ends;
mod states;
mod steps;
mod stopped;
mod stored_types;
mod stores;
mod support;
mod timing;
mod told;
mod transactions;
mod travel;
mod turns;
mod typed_inputs;
mod undo;
mod unstorable;
mod versions;
mod waits;
mod writes;

/// `--nocapture` shows which routes no run took.
#[test]
fn loaded_flows_do_what_compiled_ones_do() {
    let held = flow_law::hold(flow_law::IN_TEST_FUNCTIONS_OF_DURABLE);
    println!("{held}\n{}", held.untaken.join("\n"));
    assert!(held.stored >= 102, "{held}");
    assert!(held.untaken.len() * 2 < held.routes, "{held}");
}
