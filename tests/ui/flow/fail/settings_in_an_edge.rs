use flow_runtime::prelude::*;

#[node]
fn one(x: &u64) -> u64 { *x }
#[node]
fn two(x: &u64) -> u64 { *x }

flow! {
    Limited(x: u64) {
        start >> [one, two] with concurrency(1) >> end; //~
    }
}

fn main() {}
