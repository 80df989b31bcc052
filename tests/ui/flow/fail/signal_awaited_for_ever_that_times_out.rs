use flow_runtime::prelude::*;
use serde::{Deserialize, Serialize};

#[node(signal)]
#[derive(Serialize, Deserialize)]
struct CancelRequest { reason: String }

flow! {
    Order() {
        start >> CancelRequest >> end;
        CancelRequest - "timeout" >> end("late"); //~
        CancelRequest - "error" >> end("failed"); //~
    }
}

fn main() {}
