use flow_runtime::prelude::*;
use serde::{Deserialize, Serialize};

#[node(human = "Deploy?")]
#[derive(Serialize, Deserialize)]
struct Approval;

flow! { Release() { start >> Approval >> end; } }
flow! { Around() { start >> Release >> end; } }

async fn generic(flow: impl flow_runtime::Unattended<Input = AroundInput>) {
    let _ = flow.run(AroundInput {}).await;
}
async fn run() {
    let _ = Around::new().run(AroundInput {}).await; //~
    let _ = Around::new().run_with(AroundInput {}, RunOptions::new()).await; //~
    generic(Around::new()).await; //~
}
fn main() {}
