use flow_agents::{AskError, Messages, Model, ask};
use serde::Deserialize;

#[derive(Deserialize)]
struct Receipt { total: u64 }

async fn read(model: &dyn Model, messages: &Messages) -> Result<u64, AskError> {
    let receipt: Receipt = ask(model, messages).await?; //~
    Ok(receipt.total)
}

fn main() { let _ = read; }
