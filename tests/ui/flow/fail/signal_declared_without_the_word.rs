use flow_runtime::prelude::*;
use serde::{Deserialize, Serialize};

#[node(signal)]
#[derive(Serialize, Deserialize)]
struct CancelRequest { reason: String }

flow! {
    Order() -> (reason: String) {
        node stop: CancelRequest; //~
        start >> stop >> end;
    }
}

fn main() {}
