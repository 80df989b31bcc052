// One value replaces the key's, and another one is added to it.
use flow_runtime::prelude::*;

#[node(writes(+log, log))] //~
fn note() -> (String, Vec<String>) { ("begun".to_owned(), Vec::new()) }

fn main() {}
