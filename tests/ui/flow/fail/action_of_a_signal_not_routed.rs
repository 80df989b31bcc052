use flow_runtime::prelude::*;
use serde::{Deserialize, Serialize};

#[node(signal)]
#[derive(Serialize, Deserialize)]
enum Change { Cancel, Address }

flow! {
    Order() {
        start >> Change; //~
        Change - "cancel" >> end;
    }
}

fn main() {}
