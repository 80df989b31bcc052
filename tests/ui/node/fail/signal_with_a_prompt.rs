use flow_runtime::prelude::*;
use serde::{Deserialize, Serialize};

#[node(signal = "Cancel?")] //~
#[derive(Serialize, Deserialize)]
struct CancelRequest { reason: String }

flow! { Order() -> (reason: String) { start >> CancelRequest >> end; } }

fn main() {}
