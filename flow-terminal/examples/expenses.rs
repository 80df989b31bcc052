//! A command line of flows, in a few lines.
//!
//! ```text
//! cargo run -p typed-flows-terminal --features program --example expenses -- run Claim employee=Ann amount=30
//! cargo run -p typed-flows-terminal --features program --example expenses -- run claim.yaml --input claim.json
//! cargo run -p typed-flows-terminal --features program --example expenses -- check claim.yaml
//! ```

use std::process::ExitCode;

use flow_loader::registry;
use flow_runtime::prelude::*;
use flow_terminal::Program;
use serde::{Deserialize, Serialize};

#[derive(Action, Serialize, Deserialize)]
enum Size {
    Small,
    Large,
}

#[node(actions = Size)]
fn size(amount: &u64) -> Size {
    if *amount <= 100 {
        Size::Small
    } else {
        Size::Large
    }
}

#[derive(Serialize, Deserialize)]
#[node(human = "Pay {amount} EUR to {employee}?")]
enum Approval {
    Granted,
    Refused,
}

#[node(writes = receipt)]
fn pay(employee: &str, amount: &u64) -> Result<String, String> {
    if employee.is_empty() {
        return Err("the claim has no name".to_owned());
    }
    Ok(format!("{amount} EUR for {employee}"))
}

flow! {
    /// Pays a claim. A large one is shown to a person before.
    Claim(employee: String, amount: u64) -> (receipt: Option<String>) {
        start >> size;
        size - "small" >> pay >> end;
        size - "large" >> Approval;
        Approval - "granted" >> pay;
        Approval - "refused" >> end("refused");
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let program = Program::new().flow(Claim::new());
    program.nodes(registry![size, Approval, pay]).run().await
}
