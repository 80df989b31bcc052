use flow_runtime::prelude::*;

#[node(was = "quote")] //~
fn price() -> u32 { 1 }

fn main() {}
