use flow_runtime::prelude::*;
use serde::{Deserialize, Serialize};

#[node(human = "Deploy {}?")] //~
#[derive(Serialize, Deserialize)]
struct Approval;

fn main() {}
