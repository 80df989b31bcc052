//! Serves a flow for expense claims: small ones are paid at once, larger ones when somebody has
//! approved them. The page for people is at <http://127.0.0.1:7878>. The claims are in an SQLite
//! file, so they are still there when the program is started again.
//!
//! ```text
//! cargo run -p typed-flows-server --example claims [ADDRESS] [FILE]
//! curl localhost:7878/flows/Claim/executions?wait=5 --json '{"employee": "Ann", "amount": 950}'
//! curl localhost:7878/questions
//! curl localhost:7878/questions/TOKEN/answer --json '{"Approve": {"comment": "have fun"}}'
//! ```

use std::error::Error;
use std::time::Duration;

use flow_durable::Runtime;
use flow_runtime::prelude::*;
use flow_server::Server;
use flow_sqlite::SqliteStore;
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
    let mut arguments = std::env::args().skip(1);
    let address = arguments.next();
    let address = address.as_deref().unwrap_or("127.0.0.1:7878");
    let file = arguments.next();
    let listener = TcpListener::bind(address).await?;
    let store = SqliteStore::open(file.as_deref().unwrap_or("claims.db")).await?;
    let runtime = Runtime::new(store);
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
