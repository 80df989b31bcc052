use flow_runtime::prelude::*;
use serde::{Deserialize, Serialize};

#[node(signal)]
#[derive(Serialize, Deserialize)]
struct CancelRequest(String); //~

flow! { Order() { start >> CancelRequest >> end; } }

fn main() {}
