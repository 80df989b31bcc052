use flow_runtime::prelude::*;
use serde::{Deserialize, Serialize};

#[node(signal, writes = +changes)] //~
#[derive(Serialize, Deserialize)]
enum Change { Cancel, Address { street: String } }

fn main() {}
