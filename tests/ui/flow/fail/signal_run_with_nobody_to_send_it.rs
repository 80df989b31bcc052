use flow_runtime::prelude::*;
use serde::{Deserialize, Serialize};

#[node(signal)]
#[derive(Serialize, Deserialize)]
struct CancelRequest { reason: String }

flow! { Order() { start >> CancelRequest >> end; } }
flow! { Around() { start >> Order >> end; } }

async fn run(flow: &Around) -> Result<(), FlowError> {
    flow.run(AroundInput {}).await?; //~
    println!("{}", flow.run_with(AroundInput {}, RunOptions::new()).await?.end); //~
    Ok(())
}

fn main() { let _ = run; }
