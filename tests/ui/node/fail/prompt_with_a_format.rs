use flow_runtime::prelude::*;
use serde::{Deserialize, Serialize};

#[node(human = "Deploy {version:?}?")] //~
#[derive(Serialize, Deserialize)]
struct Approval;

fn main() {}
