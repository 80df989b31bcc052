//! A desk for expense claims that is a tool and a server: small claims are paid at once, larger ones when
//! somebody has approved them. What happens is stored in `runs.db`, and survives the process.
//!
//! ```text
//! cargo run -p typed-flows-server --features program --example desk -- serve
//! cargo run -p typed-flows-server --features program --example desk -- start Claim employee=Ann amount=950
//! cargo run -p typed-flows-server --features program --example desk -- list
//! cargo run -p typed-flows-server --features program --example desk -- answer ID '{"Approve": {"comment": "have fun"}}'
//! ```

use std::process::ExitCode;

use flow_loader::registry;
use flow_runtime::prelude::*;
use flow_server::Program;
use serde::{Deserialize, Serialize};

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

/// Stands in for a bank.
#[node(writes = receipt)]
fn pay(amount: &u64, employee: &str) -> Result<String, String> {
    match employee {
        "" => Err("there is nobody to pay".to_owned()),
        employee => Ok(format!("{amount} EUR to {employee}")),
    }
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
async fn main() -> ExitCode {
    let program = Program::new().flow(Claim::new());
    program.nodes(registry![measure, pay, Decision]).run().await
}
