use flow_runtime::prelude::*;
use serde::{Deserialize, Serialize};

#[node(human = "Deploy?")]
#[derive(Serialize, Deserialize)]
enum Approval<T> { //~
    Yes { why: T },
    No,
}

fn main() {}
