use flow_runtime::prelude::*;
use serde::{Deserialize, Serialize};

#[node(human = "Deploy?", retry(attempts = 2), poll(every = "1s"), blocking, actions = Approval, writes = approval)] //~ //~ //~ //~ //~
#[derive(Serialize, Deserialize)]
enum Approval {
    Yes,
    No,
}

fn main() {}
