use flow_runtime::prelude::*;

#[node]
trait Pay {} //~

fn main() {}
