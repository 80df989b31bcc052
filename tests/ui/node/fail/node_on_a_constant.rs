use flow_runtime::prelude::*;

#[node]
const PAY: u64 = 3; //~

fn main() {}
