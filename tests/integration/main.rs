//! How flows behave, a module for each topic. A test that stands for a case of the upstream suites
//! names its number.

#[macro_use]
mod sources;

mod additions;
mod arithmetic;
mod basics;
mod batches;
mod blocking;
mod branches;
mod composition;
mod cookbook;
mod defaults;
mod design;
mod documents;
mod edge_mappings;
mod edges;
mod ends;
mod error_routing;
mod flow_attributes;
mod forks;
mod generated;
mod libraries;
mod lifecycles;
mod limits;
mod mappings;
mod names_in_the_way;
mod nested;
mod nodes;
mod observer;
mod options;
mod questions;
mod races;
mod retry_and_fallback;
mod retry_if;
mod scripted;
mod scripted_ends;
mod signals;
mod state;
mod step_ids;
mod support;
mod sync_and_async;
mod transactions;
mod undo;
mod undo_in_documents;
mod waiting;

/// `--nocapture` shows which routes no run took: most of them cannot be taken, such as the plain
/// action of a node that fails always.
#[test]
fn loaded_flows_do_what_compiled_ones_do() {
    let held = flow_law::hold(flow_law::IN_TEST_FUNCTIONS_OF_INTEGRATION);
    println!("{held}\n{}", held.untaken.join("\n"));
    assert!(held.stored >= 245 && held.again >= 65, "{held}");
    assert!(held.untaken.len() * 6 < held.routes, "{held}");
}
