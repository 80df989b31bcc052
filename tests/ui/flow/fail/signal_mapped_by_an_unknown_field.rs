use flow_runtime::prelude::*;
use serde::{Deserialize, Serialize};

#[node(signal)]
#[derive(Serialize, Deserialize)]
struct CancelRequest { reason: String }

flow! {
    Order() -> (why: String) {
        node stop: signal CancelRequest { reasons -> why }; //~
        start >> stop >> end;
    }
}

fn main() {}
