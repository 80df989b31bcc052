use flow_runtime::prelude::*;
use serde::{Deserialize, Serialize};

#[node(signal, timeout = "1h")]
#[derive(Serialize, Deserialize)]
enum Change {
    Cancel,
    Timeout, //~
}

flow! { Order() { start >> Change - "cancel" >> end; Change - "timeout" >> end; } }

fn main() {}
