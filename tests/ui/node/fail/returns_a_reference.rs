use flow_runtime::prelude::*;

#[node]
fn first(names: &[String]) -> &str { &names[0] } //~

fn main() {}
