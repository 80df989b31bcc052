use flow_durable::{Runtime, RuntimeError, StartOptions};
use flow_runtime::prelude::*;

#[node]
fn greet(name: &str) -> String { format!("Hello, {name}!") }

flow! { Greeting(name: String) -> (greet: String) { start >> greet >> end; } }

async fn start(runtime: &Runtime, input: GreetingInput) -> Result<(), RuntimeError> {
    runtime.executions().start::<GreetingInput>(input, StartOptions::new()).await?; //~
    Ok(())
}

fn main() { let _ = start; }
