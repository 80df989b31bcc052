use flow_runtime::prelude::*;
use serde::{Deserialize, Serialize};

#[node(human = "Deploy?")]
#[derive(Serialize, Deserialize)]
struct Approval;

flow! {
    Release() {
        node second: Approval; //~
        start >> second >> end;
    }
}

fn main() {}
