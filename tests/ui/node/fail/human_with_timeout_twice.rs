use flow_runtime::prelude::*;
use serde::{Deserialize, Serialize};

#[node(human = "Deploy?", timeout = "24h")]
#[derive(Serialize, Deserialize)]
enum Approval {
    Yes,
    Timeout, //~
}

fn main() {}
