use flow_runtime::prelude::*;
use serde::{Deserialize, Serialize};

#[node(signal, writes(reason, by))] //~
#[derive(Serialize, Deserialize)]
struct CancelRequest { reason: String, by: String }

flow! { Order() -> (reason: String) { start >> CancelRequest >> end; } }

fn main() {}
