use flow_runtime::prelude::*;

#[node(human = "")] //~
#[derive(serde::Serialize, serde::Deserialize)]
struct Answer;

fn main() {}
