use flow_runtime::prelude::*;
use serde::{Deserialize, Serialize};

#[node(human = "Pay?")]
#[derive(Serialize, Deserialize)]
struct Pay { paid: bool }
#[node]
fn refund(paid: &bool) { let _ = paid; }

flow! {
    Order() {
        node pay: human Pay with undo = refund; //~
        start >> pay >> end;
    }
}

fn main() {}
