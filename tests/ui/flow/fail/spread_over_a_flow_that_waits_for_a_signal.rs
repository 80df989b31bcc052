use flow_runtime::prelude::*;
use serde::{Deserialize, Serialize};

#[node(signal)]
#[derive(Serialize, Deserialize)]
struct CancelRequest { reason: String }

#[node] fn note(id: &u64) { let _ = id; }

flow! { Stop(id: u64) -> (reason: String) { start >> note >> CancelRequest >> end; } }

flow! {
    Orders(ids: Vec<u64>) -> (reasons: Vec<String>) {
        node reasons: for id in ids { Stop } with spread(10); //~
        start >> reasons >> end;
    }
}

fn main() {}
