use flow_runtime::prelude::*;

#[node(writes = receipt)] //~
fn pay() {}

fn main() {}
