// A parameter is mapped with `+`, as if it were a result.
use flow_runtime::prelude::*;

#[node]
fn show(log: &[String]) -> usize { log.len() }

flow! {
    Notes(other: Vec<String>) -> (shown: usize) {
        node shown: show { log <- +other, show -> shown }; //~
        start >> shown >> end;
    }
}

fn main() {}
