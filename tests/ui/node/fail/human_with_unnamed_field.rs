use flow_runtime::prelude::*;
use serde::{Deserialize, Serialize};

#[node(human = "Deploy?")]
#[derive(Serialize, Deserialize)]
enum Approval {
    Yes(u8), //~
    No,
}

fn main() {}
