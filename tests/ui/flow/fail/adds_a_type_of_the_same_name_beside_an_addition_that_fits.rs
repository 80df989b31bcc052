// The item is another type of the same name. The check of another key must not hide the mistake.
use flow_runtime::{Accumulate, prelude::*};

pub mod audit {
    pub struct Entry;
    #[flow_runtime::node(writes(+log, +usage))]
    pub fn note() -> (Entry, u64) { (Entry, 4) }
}
use audit::note;
pub struct Entry;
#[derive(Default)]
pub struct Usage { total: u64 }
impl Accumulate<u64> for Usage { fn add(&mut self, tokens: u64) { self.total += tokens; } }
flow! {
    Notes() -> (log: Vec<Entry>, usage: Usage) {
        start >> note >> end; //~
    }
}
fn main() { let _ = (Entry, audit::Entry, |usage: Usage| usage.total); }
