use flow_runtime::prelude::*;

#[node]
fn one(x: &u64) -> u64 { *x }
#[node]
fn two(x: &u64) -> u64 { *x }
#[node]
fn three(x: &u64) -> u64 { *x }

flow! {
    Nested(x: u64) {
        node inner: [one, two];
        start >> [inner, three] >> end; //~
    }
}

fn main() {}
