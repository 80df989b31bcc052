use flow_runtime::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Action)] //~
#[node(human = "Deploy?")]
#[derive(Serialize, Deserialize)]
enum Approval { Yes, No }

flow! {
    Release() {
        start >> Approval - "yes" >> end;
        Approval - "no" >> end("no");
    }
}

fn main() {}
