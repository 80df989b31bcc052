// Either branch may be the first to add, and there is nothing to begin with.
use flow_runtime::{Accumulate, prelude::*};

pub struct Usage { total: u64 }
impl Accumulate<u64> for Usage { fn add(&mut self, tokens: u64) { self.total += tokens; } }
#[node(writes = +usage)]
fn draft() -> u64 { 3 }
#[node(writes = +usage)]
fn draw() -> u64 { 4 }
flow! {
    Book() -> (usage: Usage) {
        start >> [draft, draw] >> end; //~
    }
}
fn main() { let _ = |usage: Usage| usage.total; }
