use flow_runtime::prelude::*;
use serde::{Deserialize, Serialize};

#[node(signal)]
#[derive(Serialize, Deserialize)]
enum Change { Cancel { reason: String }, Address { street: String } }
#[node]
fn deliver(street: &str) { let _ = street; }

flow! {
    Order() {
        start >> Change - "address" >> deliver >> end;
        Change - "cancel" >> deliver; //~
    }
}

fn main() {}
