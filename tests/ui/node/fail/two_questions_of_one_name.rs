use flow_runtime::prelude::*;
use serde::{Deserialize, Serialize};

#[node(human = "Deploy?")]
#[derive(Serialize, Deserialize)]
enum Approval { Approved { by: String } }

#[node(human = "Pay?")]
enum Approval { Approved { amount: u64 } } //~

flow! {
    Release() -> (by: String) {
        start >> Approval;
        Approval - "approved" >> end;
    }
}

fn main() {}
