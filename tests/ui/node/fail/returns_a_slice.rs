use flow_runtime::prelude::*;

#[node]
fn rest(names: &[String]) -> &[String] { &names[1..] } //~

fn main() {}
