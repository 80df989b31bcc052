#![deny(warnings)]
use flow_runtime::prelude::*;

#[node]
fn span(start: &u64, end: &u64) -> u64 { end - start }
flow! {
    Span(start: u64, end: u64) -> (span: u64) {
        start >> span >> end;
    }
}

fn main() {}
