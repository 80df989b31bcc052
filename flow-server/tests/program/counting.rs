//! A program for the tests: it writes down how often a step with an effect begins.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::process::ExitCode;
use std::time::Duration;

use flow_durable::schedule::{Schedule, Schedules};
use flow_runtime::prelude::*;
use flow_server::Program;
use serde::{Deserialize, Serialize};

/// Adds a line to the file `effects`, and takes longer than a command that does not stay.
#[node(writes = done)]
async fn effect(name: &str) -> Result<bool, std::io::Error> {
    let file = OpenOptions::new().create(true).append(true).open("effects");
    writeln!(file?, "{name}")?;
    tokio::time::sleep(Duration::from_millis(300)).await;
    Ok(true)
}

#[node(human = "May {name} go on?")]
#[derive(Serialize, Deserialize)]
enum Permission {
    Granted,
    Refused,
}

flow! {
    /// Has an effect.
    Effect(name: String) -> (done: bool) {
        start >> effect >> end;
    }
}

flow! {
    /// Has an effect if somebody agrees.
    Asking(name: String) -> (done: Option<bool>) {
        start >> Permission;
        Permission - "granted" >> effect >> end;
        Permission - "refused" >> end("refused");
    }
}

/// Somebody gives the sign.
#[node(signal)]
#[derive(Serialize, Deserialize)]
struct Sign {
    name: String,
}

flow! {
    /// Has an effect when somebody gives the sign.
    Waiting() -> (done: bool) {
        start >> Sign >> effect >> end;
    }
}

/// Each second, if the environment variable `TICKS` is there.
fn ticks() -> Schedules {
    if std::env::var_os("TICKS").is_none() {
        return Schedules::new();
    }
    let each_second = Schedule::new::<Effect>("ticks", "* * * * * *", |tick| EffectInput {
        name: tick.to_string(),
    });
    Schedules::new().with(each_second.unwrap())
}

#[tokio::main]
async fn main() -> ExitCode {
    let program = Program::new().flow(Effect::new()).flow(Asking::new());
    let program = program.flow(Waiting::new()).schedules(ticks());
    program.run().await
}
