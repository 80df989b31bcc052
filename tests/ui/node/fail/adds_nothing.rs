// The node returns nothing that could be added.
use flow_runtime::prelude::*;

#[node(writes = +log)] //~
fn note() {}

fn main() {}
