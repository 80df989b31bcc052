use flow_runtime::prelude::*;
use serde::{Deserialize, Serialize};

#[node(human = "Deploy?")]
#[derive(Serialize, Deserialize)]
struct Approval;

flow! { Release() { start >> Approval >> end; } }
flow! { Around() { start >> Release >> end; } }

fn run(flow: &Around) {
    let _ = flow.run(AroundInput {}); //~
    let _ = flow.run_with(AroundInput {}, RunOptions::new()); //~
}

fn main() {}
