use flow_runtime::prelude::*;
use serde::{Deserialize, Serialize};

#[node(human = "Deploy {version}?")] //~
#[derive(Serialize, Deserialize)]
struct Approval;

flow! {
    Release() {
        start >> Approval >> end;
    }
}

fn main() {}
