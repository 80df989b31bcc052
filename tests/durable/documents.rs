//! Loaded flows that change while their executions are in an SQLite file: new versions, and processes
//! that end and begin.

use std::future::pending;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use flow_durable::{ExecutionId, Runtime, RuntimeError, RuntimeOptions, StartOptions, Status};
use flow_loader::{Format, LoadedFlow, Registry, load, registry};
use flow_runtime::prelude::*;
use flow_sqlite::SqliteStore;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::Notify;

#[node(human = "Greet {name}?")]
#[derive(Serialize, Deserialize)]
enum Consent {
    Yes,
}

#[node(writes = text)]
fn salute(name: &str) -> String {
    format!("Hello, {name}!")
}

#[node(writes = text)]
fn loudly(text: String) -> String {
    text.to_uppercase()
}

/// Replaces exclamation marks, if nothing keeps it from doing so.
struct Calm {
    /// Told when the step runs, which then is not over before its process is.
    hangs: Option<Arc<Notify>>,
}

#[node(writes = text)]
impl Calm {
    async fn exec(&self, text: String) -> String {
        if let Some(hangs) = &self.hangs {
            hangs.notify_one();
            pending::<()>().await;
        }
        text.replace('!', ".")
    }
}

fn all() -> Registry {
    registry![Consent, salute, loudly, Calm = Calm { hangs: None }]
}

/// A flow that asks, and then runs these nodes, each with its id.
fn document(steps: &[(&str, &str)]) -> String {
    let nodes = steps
        .iter()
        .map(|(id, node)| format!("  - {{ type: {node}, id: {id} }}\n"));
    let nodes: String = nodes.collect();
    let ids: Vec<&str> = steps.iter().map(|(id, _)| *id).collect();
    let edges = ids.windows(2).map(|pair| {
        let (from, to) = (pair[0], pair[1]);
        format!("  - {{ from: {from}, to: {to}, condition: default }}\n")
    });
    let edges: String = edges.collect();
    let (first, last) = (ids[0], ids[ids.len() - 1]);
    format!(
        "version: 2.0.0\nname: Greets\nnamespace: greets\n\
         inputs: {{ type: object, properties: {{ name: {{ default: Ann }} }} }}\n\
         outputs: {{ type: object, properties: {{ text: {{}} }}, required: [text] }}\n\
         nodes:\n  - {{ type: flow.human, id: consent, params: {{ expects: Consent, prompt: 'Greet {{name}}?' }} }}\n\
         {nodes}entryNodeId: consent\nedges:\n  - {{ from: consent, to: {first}, condition: 'yes' }}\n{edges}\
         ends:\n  - {{ from: {last}, condition: default, label: default }}\n"
    )
}

fn loaded(steps: &[(&str, &str)], registry: &Registry) -> Arc<LoadedFlow> {
    let flow = load(document(steps), Format::Yaml, registry);
    Arc::new(flow.unwrap_or_else(|error| panic!("{error}")))
}

const PLAIN: &[(&str, &str)] = &[("greet", "salute")];
const LOUD: &[(&str, &str)] = &[("greet", "salute"), ("shout", "loudly")];
const RENAMED: &[(&str, &str)] = &[("greeting", "salute"), ("calm", "Calm")];

/// A process with these nodes and the newest document, at this time after the first one.
async fn process(file: &Path, nodes: Registry, steps: &[(&str, &str)], after: Duration) -> Runtime {
    let flow = loaded(steps, &nodes);
    let began = SystemTime::now() + after;
    let options = RuntimeOptions::new().clock(move || began);
    let options = options.load_versions(move |text| load(text, Format::Json, &nodes));
    let store = SqliteStore::open(file).await.unwrap();
    let runtime = Runtime::with_options(store, options);
    runtime.register(flow).unwrap();
    runtime
}

async fn begun(runtime: &Runtime) -> ExecutionId {
    let started = runtime
        .executions()
        .start_json("Greets", json!({}), StartOptions::new());
    let execution = started.await.unwrap().settled().await.unwrap();
    assert_eq!(execution.status(), Status::Paused);
    execution.id()
}

async fn answered(runtime: &Runtime, id: ExecutionId) -> Result<Value, RuntimeError> {
    let execution = runtime.executions().get(id).await?;
    let token = execution.questions().await?[0].token();
    let execution = runtime.executions().resume(token, Consent::Yes).await?;
    Ok(execution.settled().await?.output_json()?.unwrap()["text"].take())
}

#[tokio::test]
async fn executions_finish_on_their_documents_in_a_file() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("greets.db");
    let first = process(&file, all(), PLAIN, Duration::ZERO).await;
    let plain = [
        begun(&first).await,
        begun(&first).await,
        begun(&first).await,
    ];
    first.replace(loaded(LOUD, &all())).unwrap();
    let loud = [
        begun(&first).await,
        begun(&first).await,
        begun(&first).await,
    ];
    assert_eq!(answered(&first, plain[0]).await.unwrap(), "Hello, Ann!");
    assert_eq!(answered(&first, loud[0]).await.unwrap(), "HELLO, ANN!");
    // A document that is broken does not become a version, and the current one stays.
    let broken = document(LOUD).replace("loudly", "loud");
    let error = load(broken, Format::Yaml, &all()).unwrap_err();
    assert!(
        error.to_string().contains("no node `loud` is registered"),
        "{error}"
    );
    first.replace(loaded(RENAMED, &all())).unwrap();
    assert_eq!(answered(&first, plain[1]).await.unwrap(), "Hello, Ann!");
    let renamed = begun(&first).await;
    first.shut_down().await;
    drop(first);

    // The file has the documents of all executions that wait, and the process only the newest one.
    let lacking = registry![Consent, salute, Calm = Calm { hangs: None }];
    let second = process(&file, lacking, RENAMED, Duration::ZERO).await;
    assert_eq!(answered(&second, plain[2]).await.unwrap(), "Hello, Ann!");
    assert_eq!(answered(&second, renamed).await.unwrap(), "Hello, Ann.");
    // Without `loudly`, the document of this one cannot be loaded. The newest one fits what it has done.
    assert_eq!(answered(&second, loud[1]).await.unwrap(), "Hello, Ann.");
    second.shut_down().await;
    drop(second);

    let third = process(&file, all(), RENAMED, Duration::ZERO).await;
    assert_eq!(answered(&third, loud[2]).await.unwrap(), "HELLO, ANN!");
}

/// The process is gone while a step runs, and does not say so.
#[test]
fn a_process_that_is_gone_in_the_middle_of_an_earlier_document() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("greets.db");
    let hangs = Arc::new(Notify::new());
    let calm = Calm {
        hangs: Some(hangs.clone()),
    };
    let nodes = all().with(registry![Calm = calm]);
    let first = tokio::runtime::Runtime::new().unwrap();
    let id = first.block_on(async {
        let runtime = process(&file, nodes, RENAMED, Duration::ZERO).await;
        let id = begun(&runtime).await;
        runtime.replace(loaded(LOUD, &all())).unwrap();
        let token = runtime
            .executions()
            .get(id)
            .await
            .unwrap()
            .questions()
            .await
            .unwrap()[0]
            .token();
        runtime
            .executions()
            .resume(token, Consent::Yes)
            .await
            .unwrap();
        hangs.notified().await;
        std::mem::forget(runtime);
        id
    });
    first.shutdown_background();

    let second = tokio::runtime::Runtime::new().unwrap();
    second.block_on(async {
        let hour = Duration::from_secs(3600);
        let runtime = process(&file, all(), LOUD, hour).await;
        runtime.recover().await.unwrap();
        let execution = runtime
            .executions()
            .get(id)
            .await
            .unwrap()
            .settled()
            .await
            .unwrap();
        let output = execution.output_json().unwrap().unwrap();
        assert_eq!(output["text"], "Hello, Ann.");
        let journal = execution.journal().await.unwrap();
        let outcomes = journal
            .iter()
            .filter(|record| record.step.contains("greeting"));
        assert!(outcomes.count() > 0, "{journal:#?}");
        assert_eq!(execution.status(), Status::Completed);
    });
}
