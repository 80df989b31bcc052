use flow_runtime::prelude::*;

#[node]
fn total(number: &u64) -> u64 { *number }

flow! {
    Adding(count: u64) -> (total: u64) {
        node total: total { #[cfg(any())] number <- count }; //~
        start >> total >> end;
    }
}

fn main() {}
