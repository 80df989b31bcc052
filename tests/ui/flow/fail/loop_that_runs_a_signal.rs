use flow_runtime::prelude::*;
use serde::{Deserialize, Serialize};

#[node(signal)]
#[derive(Serialize, Deserialize)]
struct CancelRequest { reason: String }

flow! {
    Orders(ids: Vec<u64>) -> (reasons: Vec<String>) {
        node reasons: for id in ids { CancelRequest }; //~
        start >> reasons >> end;
    }
}

fn main() {}
