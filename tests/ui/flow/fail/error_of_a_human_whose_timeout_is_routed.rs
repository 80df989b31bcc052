use flow_runtime::prelude::*;
use serde::{Deserialize, Serialize};

#[node(human = "Deploy?", timeout = "24h")]
#[derive(Serialize, Deserialize)]
struct Approval;

flow! {
    Release() {
        start >> Approval >> end;
        Approval - "timeout" >> end("late");
        Approval - "error" >> end("failed"); //~
    }
}

fn main() {}
