use flow_runtime::prelude::*;

#[node]
mod pay {} //~

fn main() {}
