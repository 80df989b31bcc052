// The key is in quotes, and so is the `+`.
use flow_runtime::prelude::*;

#[node(writes = "+log")] //~
fn note() -> String { "begun".to_owned() }

fn main() {}
