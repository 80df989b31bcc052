// The types of the keys come from their readers alone.
#![deny(warnings)]
use flow_runtime::prelude::*;
use flow_runtime::Accumulate;

pub struct Entry(u64);
#[derive(Default)]
pub struct Usage { total: u64 }
impl Accumulate<u64> for Usage {
    fn add(&mut self, tokens: u64) { self.total += tokens; }
}

#[node(writes(+log, +text, +usage, +sum))]
fn ask(question: &str) -> (Entry, String, u64, u64) { (Entry(1), question.to_owned(), 3, 4) }
#[node]
fn show(log: &[Entry], text: &str) -> u64 { log.iter().map(|entry| entry.0).sum::<u64>() + text.len() as u64 }
#[node]
fn bill(usage: &Usage, sum: u64) -> u64 { usage.total + sum }

flow! {
    Chat(question: String) -> (show: u64, bill: u64) {
        start >> ask >> show >> bill >> end;
    }
}

fn main() {}
