#![deny(warnings)]
use flow_runtime::prelude::*;

#[node(writes = r#type)]
fn r#match() -> u64 { 3 }
#[node]
fn r#loop(r#type: &u64) -> u64 { r#type + 1 }
flow! {
    Words(r#in: u64) -> (r#type: u64, r#loop: u64, r#in: u64) {
        start >> r#match >> r#loop >> end;
    }
}

fn main() {}
