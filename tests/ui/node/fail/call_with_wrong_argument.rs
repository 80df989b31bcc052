use flow_runtime::prelude::*;

#[node]
fn double(amount: &u64) -> u64 { amount * 2 }

fn main() {
    double("three"); //~
}
