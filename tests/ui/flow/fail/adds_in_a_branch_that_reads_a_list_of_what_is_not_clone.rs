// A branch reads the list to which it added an item that cannot be cloned.
use flow_runtime::prelude::*;

pub struct Entry(u64);

#[node(writes = +log)]
fn note() -> Entry { Entry(3) }
#[node]
fn show(log: &[Entry]) -> u64 { log.iter().map(|entry| entry.0).sum() }
#[node]
fn greet() -> String { "hello".to_owned() }

flow! {
    Notes() -> (show: u64, greet: String, log: Vec<Entry>) {
        start >> [note >> show, greet] >> end; //~
    }
}

fn main() {}
