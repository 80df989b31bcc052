// It is written as an assignment of Rust.
use flow_runtime::prelude::*;

#[node(writes += log)] //~
fn note() -> String { "begun".to_owned() }

fn main() {}
