#![deny(warnings)]
use flow_runtime::prelude::*;

#[node]
fn double(number: &u64) -> u64 { number * 2 }
flow! {
    Doubles(numbers: [u64; 3]) -> (doubles: Vec<u64>) {
        node doubles: for number in numbers { double } with concurrency(2);
        start >> doubles >> end;
    }
}

fn main() {}
