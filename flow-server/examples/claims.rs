//! Serves a flow for expense claims: small ones are paid at once, larger ones when somebody has
//! approved them.
//!
//! ```text
//! cargo run -p flow-server --example claims [ADDRESS]
//! curl localhost:7878/flows/Claim/executions?wait=5 --json '{"employee": "Ann", "amount": 950}'
//! curl localhost:7878/questions
//! curl localhost:7878/questions/TOKEN/answer --json '{"approve": {"comment": "have fun"}}'
//! ```

use std::error::Error;
use std::time::Duration;

use flow_durable::{MemoryStore, Runtime};
use flow_runtime::prelude::*;
use flow_server::Server;
use serde::{Deserialize, Serialize};
use tokio::net::TcpListener;

/// Claims above this amount need an approval, in EUR.
const LIMIT: u64 = 100;

#[derive(Action, Serialize, Deserialize)]
enum Size {
    Small,
    Large,
}

#[node(actions = Size)]
fn measure(amount: &u64) -> Size {
    match *amount {
        0..=LIMIT => Size::Small,
        _ => Size::Large,
    }
}

/// What somebody decides on a claim.
#[node(human = "Approve {amount} EUR for {employee}?", timeout = "14d")]
#[derive(Serialize, Deserialize)]
enum Decision {
    Approve { comment: String },
    Reject { reason: String },
}

/// Stands in for a bank, which is slow.
#[node(writes = receipt)]
async fn pay(cx: &Context, amount: &u64, employee: &str) -> String {
    for done in 1..=4 {
        cx.progress(done, Some(4));
        tokio::time::sleep(Duration::from_millis(250)).await;
    }
    format!("{amount} EUR to {employee}")
}

flow! {
    /// Pays expenses.
    Claim(employee: String, amount: u64) -> (receipt: Option<String>) {
        start >> measure;
        measure  - "small"   >> pay;
        measure  - "large"   >> Decision;
        Decision - "approve" >> pay >> end;
        Decision - "reject"  >> end("rejected");
        Decision - "timeout" >> end("late");
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let address = std::env::args().nth(1);
    let listener = TcpListener::bind(address.as_deref().unwrap_or("127.0.0.1:7878")).await?;
    let runtime = Runtime::new(MemoryStore::new());
    runtime.register(Claim::new())?;
    runtime.recover().await?;
    println!("http://{}", listener.local_addr()?);
    let interrupted = async {
        // Without a handler, the process is interrupted at once: that is all right as well.
        let _ = tokio::signal::ctrl_c().await;
    };
    Server::new(runtime)
        .serve_until(listener, interrupted)
        .await?;
    Ok(())
}
