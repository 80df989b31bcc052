#![deny(warnings)]
use flow_runtime::prelude::*;

#[node]
fn double(number: &u64) -> u64 { number * 2 }
flow! {
    Fourfold(number: u64) -> (double: u64) {
        node first: double { double -> half };
        node second: double { number <- half };
        start >> first >> second >> end;
    }
}

fn main() {}
