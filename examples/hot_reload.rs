//! A flow in a YAML file is edited while the program serves executions of it. New executions follow
//! the edit. An execution from before the edit finishes on its version. A broken edit is reported
//! with its line, and changes nothing.
//!
//! The program edits a copy of `examples/data/claim.yaml` itself, in a temporary folder.
//!
//! ```text
//! cargo run -p flow-examples --example hot_reload
//! ```

use std::error::Error;
use std::fs;
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use typed_flows::documents::{Folder, Format, Registry, Reload, Watch, load, registry};
use typed_flows::durable::{Execution, MemoryStore, Runtime, RuntimeOptions, StartOptions, Status};
use typed_flows::prelude::*;

/// The limit up to which a claim is paid without a person. The document sets it.
#[derive(Deserialize)]
struct Limit {
    most: u64,
}

#[derive(Action, Serialize, Deserialize)]
enum Size {
    Within,
    Above,
}

#[node(actions = Size)]
impl Limit {
    fn exec(&self, amount: &u64) -> Size {
        if *amount <= self.most {
            Size::Within
        } else {
            Size::Above
        }
    }
}

#[derive(Serialize, Deserialize)]
#[node(human = "Pay {amount} EUR to {employee}?")]
enum Approval {
    Granted,
    Refused,
}

#[node(writes = receipt)]
async fn pay(employee: &str, amount: &u64) -> String {
    format!("{amount} EUR for {employee}")
}

#[node(writes = receipt)]
async fn thank(receipt: String) -> String {
    format!("{receipt}, with thanks")
}

/// The types and nodes that documents may use.
fn nodes() -> Registry {
    registry![Limit, Approval, pay, thank]
}

/// Serves the flows of a folder, now and after each edit. Returns a stream of the changes.
fn serve(runtime: &Runtime, folder: &Path) -> io::Result<(Watch, UnboundedReceiver<String>)> {
    let (runtime, (told, news)) = (runtime.clone(), unbounded_channel());
    let folder = Folder::new(folder, nodes());
    let watch = folder.watch(move |reload| {
        for line in follow(&runtime, reload) {
            println!("{line}");
            // Nobody listens when the program ends.
            let _ = told.send(line);
        }
    })?;
    Ok((watch, news))
}

/// Replaces the flows that have changed.
fn follow(runtime: &Runtime, reload: Reload) -> Vec<String> {
    let mut lines = Vec::new();
    for problem in reload.problems {
        lines.push(problem.to_string());
    }
    for flow in reload.changed {
        let name = flow.name().to_owned();
        lines.push(match runtime.replace(flow) {
            Ok(()) => format!("{name} has a new version"),
            Err(refused) => refused.to_string(),
        });
    }
    for name in reload.removed {
        lines.push(match runtime.retire(&name) {
            Ok(()) => format!("{name} does not start any more"),
            Err(error) => error.to_string(),
        });
    }
    lines
}

/// Starts an execution, which pays the claim or waits for a person.
async fn claim(
    runtime: &Runtime,
    employee: &str,
    amount: u64,
) -> Result<Execution, Box<dyn Error>> {
    let input = json!({ "employee": employee, "amount": amount });
    let execution = runtime
        .executions()
        .start_json("Claim", input, StartOptions::new());
    Ok(execution.await?.settled().await?)
}

fn receipt(execution: &Execution) -> Result<String, Box<dyn Error>> {
    let output = execution.output_json()?.ok_or("it is not completed")?;
    let receipt = output["receipt"].as_str().ok_or("nothing was paid")?;
    println!("paid: {receipt}");
    Ok(receipt.to_owned())
}

/// Edits a file as editors do, by replacing it: no reader sees half of it.
fn edit(file: &Path, changes: &[(&str, &str)]) -> io::Result<()> {
    let mut text = fs::read_to_string(file)?;
    for (from, to) in changes {
        assert!(text.contains(from), "there is no `{from}` in the file");
        text = text.replace(from, to);
    }
    let new = file.with_file_name(".claim.yaml.new");
    fs::write(&new, text)?;
    fs::rename(new, file)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("claim.yaml");
    let original = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/claim.yaml");
    fs::copy(original, &file)?;

    // After a restart, executions would find their versions in the store.
    let options = RuntimeOptions::new().load_versions(|text| load(text, Format::Json, &nodes()));
    let runtime = Runtime::with_options(MemoryStore::new(), options);
    let (_watch, mut news) = serve(&runtime, folder.path())?;
    let replaced = || Some("Claim has a new version".to_owned());
    assert_eq!(news.recv().await, replaced());

    // 300 EUR are above the limit of 100.
    let ann = claim(&runtime, "Ann", 300).await?;
    assert_eq!(ann.status(), Status::Paused);

    edit(&file, &[("most: 100", "most: 500")])?;
    assert_eq!(news.recv().await, replaced());
    let ben = claim(&runtime, "Ben", 300).await?;
    assert_eq!(receipt(&ben)?, "300 EUR for Ben");

    // A mistake is reported, and the flow stays as it was.
    edit(&file, &[("type: pay", "type: pya")])?;
    let problem = news.recv().await.unwrap_or_default();
    assert!(problem.contains("claim.yaml:17:13: no node `pya`"));
    let cid = claim(&runtime, "Cid", 400).await?;
    assert_eq!(receipt(&cid)?, "400 EUR for Cid");

    let thanks = [
        (
            "type: pya, id: pay }",
            "type: pay, id: pay }\n  - { type: thank, id: thank }",
        ),
        (
            "ends:\n",
            "  - { from: pay, to: thank, condition: default }\nends:\n",
        ),
        ("{ from: pay, condition", "{ from: thank, condition"),
    ];
    edit(&file, &thanks)?;
    assert_eq!(news.recv().await, replaced());
    let dan = claim(&runtime, "Dan", 50).await?;
    assert_eq!(receipt(&dan)?, "50 EUR for Dan, with thanks");

    // Ann's claim has waited since the first version, which thanked nobody.
    let question = &ann.questions().await?[0];
    let ann = runtime
        .executions()
        .resume(question.token(), Approval::Granted)
        .await?;
    assert_eq!(receipt(&ann.settled().await?)?, "300 EUR for Ann");
    Ok(())
}
