use flow_runtime::prelude::*;
use serde::{Deserialize, Serialize};

#[node(signal)]
#[derive(Serialize, Deserialize)]
struct CancelRequest { reason: String }

flow! {
    Order(id: u64) -> (reason: String) {
        node stop: signal CancelRequest { id <- id } with retry(attempts = 2); //~ //~
        start >> stop >> end;
    }
}

fn main() {}
