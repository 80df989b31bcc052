use flow_runtime::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
#[node(human = "Pay?", transaction)] //~
enum Pay {
    Yes,
    No,
}

fn main() {}
