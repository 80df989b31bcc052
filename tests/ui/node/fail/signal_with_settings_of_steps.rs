use flow_runtime::prelude::*;
use serde::{Deserialize, Serialize};

#[node(signal, retry(attempts = 2), poll(every = "1s"), blocking, transaction, actions = Change)] //~ //~ //~ //~ //~
#[derive(Serialize, Deserialize)]
struct Change { street: String }

flow! { Move() -> (street: String) { start >> Change >> end; } }

fn main() {}
