// The value is taken before something is added to it, and cannot be cloned.
use flow_runtime::{Accumulate, prelude::*};

pub struct Usage { total: u64 }
impl Accumulate<u64> for Usage { fn add(&mut self, tokens: u64) { self.total += tokens; } }
#[node]
fn bill(usage: Usage) -> u64 { usage.total }
#[node(writes = +usage)]
fn ask() -> u64 { 3 }
flow! {
    Chat(usage: Usage) -> (bill: u64, usage: Usage) {
        start >> bill >> ask >> end; //~
    }
}
fn main() {}
