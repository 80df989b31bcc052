use flow_runtime::prelude::*;
use serde::{Deserialize, Serialize};

#[node(human = "Deploy?")]
#[derive(Serialize, Deserialize)]
struct Approval;

flow! { Release() { start >> Approval >> end; } }
flow! { Around() { start >> Release >> end; } }

async fn run(flow: &Around) -> Result<(), FlowError> {
    flow.run(AroundInput {}).await?; //~
    println!("{}", flow.run_with(AroundInput {}, RunOptions::new()).await?.end); //~
    Ok(())
}

fn main() { let _ = run; }
