use flow_runtime::prelude::*;
use serde::{Deserialize, Serialize};

#[node(signal, writes = change)] //~
#[derive(Serialize, Deserialize)]
enum Change { Cancel, Address { street: String } }

flow! { Order() { start >> Change - "cancel" >> end; Change - "address" >> end; } }

fn main() {}
