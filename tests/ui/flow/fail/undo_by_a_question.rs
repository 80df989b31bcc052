use flow_runtime::prelude::*;
use serde::{Deserialize, Serialize};

#[node(writes = receipt)]
fn charge() -> String { "r1".into() }
#[node(human = "Refunded?")]
#[derive(Serialize, Deserialize)]
struct Refund { refunded: bool }

flow! {
    Order() {
        node refund: human Refund;
        node pay: charge with undo = refund; //~
        start >> pay >> undo >> end;
    }
}

fn main() {}
