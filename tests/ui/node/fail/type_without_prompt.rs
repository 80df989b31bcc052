use flow_runtime::prelude::*;

#[node]
struct Answer; //~

fn main() {}
