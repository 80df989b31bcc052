use flow_runtime::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Action)] //~
#[node(signal)]
#[derive(Serialize, Deserialize)]
enum Change { Cancel, Address }

flow! {
    Order() {
        start >> Change - "cancel" >> end;
        Change - "address" >> end("moved");
    }
}

fn main() {}
