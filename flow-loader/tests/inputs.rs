//! Inputs as JSON: everything that is wrong is said at once, whatever runs the flow. Conformance
//! BP-18.

use std::sync::Arc;

use flow_durable::{Durable, MemoryStore, Runtime, RuntimeError, StartOptions};
use flow_loader::{Format, LoadedFlow, load, registry};
use flow_runtime::engine::{
    AnyFlow, Direct, InputCode, InputError, Observed, Run, RunError, Saved, run_any,
};
use flow_runtime::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Options {
    a: Vec<Part>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Part {
    v: f64,
}

#[node]
fn shown(q: &str, n: &f64, o: Option<&Options>) -> String {
    let sum = o.map_or(0.0, |o| o.a.iter().fold(0.0, |sum, part| sum + part.v));
    format!("{q} {n} {sum}")
}

flow! {
    Contract(q: String, n: f64, o: Option<Options>) -> (shown: String) {
        start >> shown >> end;
    }
}

fn loaded(spec: &str) -> LoadedFlow {
    load(spec, Format::Json, &registry![shown]).unwrap()
}

/// What each way to run the flow says of an input.
async fn refused<F>(flow: F, input: &Value) -> InputError
where
    F: AnyFlow<Direct> + AnyFlow<Durable> + for<'r> AnyFlow<Observed<'r>> + 'static,
{
    let runtime = Runtime::new(MemoryStore::new());
    let flow = Arc::new(flow);
    runtime.register(flow.clone()).unwrap();
    let started = runtime
        .executions()
        .start_json("Contract", input.clone(), StartOptions::new());
    let Err(RuntimeError::Input { flow: name, error }) = started.await else {
        panic!("{input} is accepted")
    };
    assert_eq!(name, "Contract");
    assert!(
        runtime
            .executions()
            .list(Default::default())
            .await
            .unwrap()
            .is_empty()
    );
    if let Some(saved) = Saved::from_json(input.clone()) {
        let direct = run_any(&*flow, &Direct::new(), saved.clone()).await;
        let run = Run::numbered(RunOptions::new());
        let observed = run_any(&*flow, &Observed::new(&run), saved).await;
        for ran in [direct, observed] {
            assert!(matches!(ran, Err(RunError::Input(other)) if other == error));
        }
    }
    error
}

#[tokio::test]
async fn everything_that_is_wrong_with_an_input_is_said_at_once() {
    for (input, expected) in [
        (
            json!({ "n": 1 }),
            vec![(InputCode::Missing, "q", "/q", "it is missing")],
        ),
        (
            json!({ "q": 3, "n": 1, "o": { "a": [{ "v": 1 }, { "v": "x" }] } }),
            vec![
                (
                    InputCode::WrongType,
                    "q",
                    "/q",
                    "invalid type: integer `3`, expected a string",
                ),
                (
                    InputCode::WrongType,
                    "o.a[1].v",
                    "/o/a/1/v",
                    "invalid type: string \"x\", expected f64",
                ),
            ],
        ),
        (
            json!({ "Q": "ok", "n": [], "a/b": 1 }),
            vec![
                (InputCode::Missing, "q", "/q", "it is missing"),
                (
                    InputCode::WrongType,
                    "n",
                    "/n",
                    "invalid type: sequence, expected f64",
                ),
                (
                    InputCode::Unexpected,
                    "Q",
                    "/Q",
                    "the flow has no such input: did you mean `q`?",
                ),
                (
                    InputCode::Unexpected,
                    "a/b",
                    "/a~1b",
                    "the flow has no such input: there is `q`, `n`, `o`",
                ),
            ],
        ),
        (
            json!(["q"]),
            vec![(InputCode::NotAnObject, "", "", "it is not a JSON object")],
        ),
    ] {
        let compiled = refused(Contract::new(), &input).await;
        assert_eq!(compiled, refused(loaded(Contract::SPEC), &input).await);
        let violations = compiled.violations().iter();
        let found: Vec<_> = violations
            .map(|it| (it.code(), it.path(), it.pointer(), it.message()))
            .collect();
        assert_eq!(found, expected, "{input}");
    }
    let error = loaded(Contract::SPEC).run(json!("q")).await.unwrap_err();
    assert_eq!(error.to_string(), "input: it is not a JSON object");
}

/// `null` stands for an optional value that is left out.
#[tokio::test]
async fn what_fits_runs() {
    let input = json!({ "q": "ok", "n": 2, "o": null });
    let saved = Saved::from_json(input.clone()).unwrap();
    let compiled = run_any(&Contract::new(), &Direct::new(), saved).await;
    let expected = json!({ "shown": "ok 2 0", "end": "default" });
    assert_eq!(compiled.unwrap().into_json(), expected);
    assert_eq!(loaded(Contract::SPEC).run(input).await.unwrap(), expected);
}

#[tokio::test]
async fn a_declared_default_is_applied() {
    let mut document: Value = serde_json::from_str(Contract::SPEC).unwrap();
    document["inputs"]["properties"]["n"]["default"] = json!(5);
    document["inputs"]["required"] = json!(["q"]);
    let flow = loaded(&document.to_string());
    let output = flow.run(json!({ "q": "ok" })).await.unwrap();
    assert_eq!(output["shown"], "ok 5 0");
    let error = refused(flow, &json!({})).await;
    assert_eq!(error.to_string(), "input `q`: it is missing");
}
