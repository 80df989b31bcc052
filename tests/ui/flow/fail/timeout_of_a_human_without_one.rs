use flow_runtime::prelude::*;
use serde::{Deserialize, Serialize};

#[node(human = "Deploy?")]
#[derive(Serialize, Deserialize)]
struct Approval;

flow! {
    Release() {
        start >> Approval >> end;
        Approval - "timeout" >> end("late"); //~
        Approval - "error" >> end("failed"); //~
    }
}

fn main() {}
