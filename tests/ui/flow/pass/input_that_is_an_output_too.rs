#![deny(warnings)]
use flow_runtime::prelude::*;

#[node(writes = text)]
fn shout(text: String) -> String { text.to_uppercase() }
flow! {
    Shout(text: String, note: u64) -> (text: String, note: u64) {
        start >> shout >> end;
    }
}

fn main() {}
