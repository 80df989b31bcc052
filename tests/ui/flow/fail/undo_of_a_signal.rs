use flow_runtime::prelude::*;
use serde::{Deserialize, Serialize};

#[node(signal)]
#[derive(Serialize, Deserialize)]
struct Paid { amount: u64 }
#[node]
fn refund(amount: &u64) { let _ = amount; }

flow! {
    Order() {
        node paid: signal Paid with undo = refund; //~
        start >> paid >> end;
    }
}

fn main() {}
