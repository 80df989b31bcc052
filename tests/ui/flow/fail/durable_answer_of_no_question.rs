use flow_durable::{Runtime, RuntimeError, Token};
use flow_runtime::prelude::*;
use serde::{Deserialize, Serialize};

#[node(human = "Deploy?")]
#[derive(Serialize, Deserialize)]
struct Approval;

flow! { Release() { start >> Approval >> end; } }

async fn answer(runtime: &Runtime, token: Token) -> Result<(), RuntimeError> {
    runtime.executions().resume(token, Approval).await?;
    runtime.executions().resume(token, "Approval").await?; //~
    Ok(())
}

fn main() { let _ = answer; }
