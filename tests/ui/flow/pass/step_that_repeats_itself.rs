#![deny(warnings)]
use flow_runtime::prelude::*;

#[derive(Action)]
enum Next { Again, Done }
#[node(actions = Next, writes = count)]
fn count(count: u64) -> (u64, Next) { (count + 1, if count > 3 { Next::Done } else { Next::Again }) }
flow! {
    Counting(count: u64) -> (count: u64) {
        start >> count;
        count - "again" >> count;
        count - "done" >> end;
    }
}

fn main() {}
