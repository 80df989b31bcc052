use flow_runtime::prelude::*;
use serde::{Deserialize, Serialize};

#[node(signal, human = "Cancel?")] //~
#[derive(Serialize, Deserialize)]
struct CancelRequest { reason: String }

fn main() {}
