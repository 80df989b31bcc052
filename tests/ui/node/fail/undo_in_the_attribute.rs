use flow_runtime::prelude::*;

#[node]
fn refund() {}

#[node(undo = refund)] //~
fn charge() {}

fn main() {}
