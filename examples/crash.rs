//! A program that kills itself in the middle of a fork, at the worst moment: the card has been
//! charged, but this is not recorded yet. Started again, it resumes. Recorded steps are not
//! repeated. The charge is repeated with the same key, so the bank recognises it.
//!
//! ```text
//! cargo run -p flow-examples --example crash -- run order.db   # killed
//! cargo run -p flow-examples --example crash -- run order.db   # resumes
//! ```
//!
//! Without arguments, it starts itself twice in this way.

use std::error::Error;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use typed_flows::durable::{Runtime, RuntimeOptions, StartOptions, Status};
use typed_flows::prelude::*;
use typed_flows::sqlite::SqliteStore;

#[node(writes = price)]
fn look_up(item: &str) -> u64 {
    println!("  look_up: what a {item} costs");
    30
}

#[node(writes = shelf)]
fn reserve(item: &str) -> String {
    println!("  reserve: one {item}");
    "B7".to_owned()
}

/// The bank that charges the card, and keeps a ledger.
struct Charge {
    ledger: PathBuf,
    /// Set only in the first process, which dies when the other branch is recorded.
    dies: Option<watch::Receiver<bool>>,
}

#[node(writes = receipt)]
impl Charge {
    async fn exec(&self, cx: &Context, price: &u64) -> io::Result<String> {
        let key = cx.step_id();
        let known = std::fs::read_to_string(&self.ledger).unwrap_or_default();
        if known.lines().any(|line| line.starts_with(&key)) {
            println!("  charge: {price} EUR, which the bank has seen before");
        } else {
            println!("  charge: {price} EUR");
            let mut ledger = std::fs::File::options()
                .append(true)
                .create(true)
                .open(&self.ledger)?;
            writeln!(ledger, "{key} {price}")?;
        }
        if let Some(mut reserved) = self.dies.clone() {
            // An error means that the sender is gone: then it is time to die as well.
            let _ = reserved.wait_for(|reserved| *reserved).await;
            kill_this_process()?;
        }
        Ok(format!("{price} EUR"))
    }
}

/// No handler runs, and nothing is cleaned up.
fn kill_this_process() -> io::Result<()> {
    let kill = format!("kill -KILL {}", std::process::id());
    let status = Command::new("sh").args(["-c", &kill]).status()?;
    Err(io::Error::other(format!("could not be killed: {status}")))
}

#[node(writes = label)]
fn ship(item: &str, shelf: &str, receipt: &str) -> String {
    println!("  ship: the {item}");
    format!("{item} from {shelf}, paid {receipt}")
}

flow! {
    /// Reserves an item and charges for it at the same time.
    Order(item: String) -> (label: String) {
        node charge: Charge;

        start >> look_up >> [reserve, charge] >> ship >> end;
    }
}

/// Reports when the item has been reserved and this is recorded.
struct Reserved(watch::Sender<bool>);

impl Observer for Reserved {
    fn on_event(&self, event: &Event<'_>) {
        let is_finished = matches!(event.kind(), EventKind::NodeFinished { .. });
        if is_finished && event.path().to_string() == "order.reserve" {
            self.0.send_replace(true);
        }
    }
}

/// Starts the order if it is new, and resumes it otherwise.
async fn order(file: &Path) -> Result<(), Box<dyn Error>> {
    let is_new = !file.exists();
    let (sender, reserved) = watch::channel(false);
    let charge = Charge {
        ledger: file.with_extension("ledger"),
        dies: is_new.then_some(reserved),
    };

    // Another process waits this long before it takes over the executions of this one.
    let options = RuntimeOptions::new()
        .lease(Duration::from_secs(1))
        .observer(Arc::new(Reserved(sender)));
    let runtime = Runtime::with_options(SqliteStore::open(file).await?, options);
    runtime.register(Order::builder().charge(charge).build())?;
    runtime.recover().await?;

    let input = OrderInput {
        item: "teapot".into(),
    };
    let options = StartOptions::new().idempotency_key("order 1");
    let execution = runtime.executions().start::<Order>(input, options).await?;
    let execution = execution.settled().await?;
    let output = execution.output::<Order>()?;
    let output = output.ok_or_else(|| format!("the order is {}", execution.status()))?;
    assert_eq!(execution.status(), Status::Completed);
    println!("  shipped: {}", output.label);
    Ok(())
}

/// Starts this program with a new file, and then again with the file of the first process.
fn crash_and_go_on() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("order.db");
    let start = || -> Result<(bool, String), Box<dyn Error>> {
        println!("$ crash run order.db");
        let output = Command::new(std::env::current_exe()?)
            .arg("run")
            .arg(&file)
            .output()?;
        let text = String::from_utf8(output.stdout)?;
        print!("{text}{}", String::from_utf8(output.stderr)?);
        println!("  {}", output.status);
        // A process that a signal ended has no exit code.
        Ok((output.status.code().is_none(), text))
    };

    let (killed, first) = start()?;
    assert!(killed);
    assert!(first.contains("reserve: one teapot") && first.contains("charge: 30 EUR"));
    assert!(!first.contains("ship"));

    let (killed, second) = start()?;
    assert!(!killed);
    assert_eq!(
        second,
        "  charge: 30 EUR, which the bank has seen before\n  ship: the teapot\n  shipped: teapot from B7, paid 30 EUR\n"
    );
    let ledger = std::fs::read_to_string(file.with_extension("ledger"))?;
    assert_eq!(ledger.lines().count(), 1);
    Ok(())
}

#[tokio::main]
async fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match arguments[..] {
        [] => crash_and_go_on(),
        ["run", file] => order(Path::new(file)).await,
        _ => Err("usage: crash [run FILE]".into()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(all(test, feature = "documents"))]
#[path = "law/crash.rs"]
mod law;
