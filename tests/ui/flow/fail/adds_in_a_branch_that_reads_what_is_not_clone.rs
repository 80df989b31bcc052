// A branch needs a value of its own to read what it added, and the value cannot be cloned.
use flow_runtime::{Accumulate, prelude::*};

#[derive(Default)]
pub struct Usage { total: u64 }
impl Accumulate<u64> for Usage { fn add(&mut self, tokens: u64) { self.total += tokens; } }
#[node(writes = +usage)]
fn ask() -> u64 { 3 }
#[node]
fn bill(usage: &Usage) -> u64 { usage.total }
#[node]
fn greet() -> String { "hello".to_owned() }
flow! {
    Chat() -> (bill: u64, greet: String, usage: Usage) {
        start >> [ask >> bill, greet] >> end; //~
    }
}
fn main() {}
