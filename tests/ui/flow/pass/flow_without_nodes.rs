#![deny(warnings)]
use flow_runtime::prelude::*;

flow! {
    Nothing(note: u64) -> (note: u64) {
        start >> end;
    }
}

fn main() {}
