use flow_runtime::prelude::*;
use serde::{Deserialize, Serialize};

#[node(signal)]
#[derive(Serialize, Deserialize)]
struct CancelRequest {
    #[cfg(any())] //~
    why: String,
    reason: String,
}

flow! { Order() -> (reason: String) { start >> CancelRequest >> end; } }

fn main() {}
