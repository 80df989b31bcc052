//! Inputs with defaults: in the builder, in JSON, where a flow is a node, and in documents.

use std::time::Duration;

use flow_runtime::engine::{AnyFlow, Direct, RunError, Saved, run_any};
use flow_runtime::prelude::*;
use flow_runtime::{Export as _, ExportOptions};
use flow_spec::document::DEFAULT_OMITTED;
use serde_json::{Value, json};

#[node]
fn cut(text: String, limit: &usize, mark: &str) -> String {
    let cut: String = text.chars().take(*limit).collect();
    format!("{cut}{mark}")
}

flow! {
    Cut(text: String, limit: usize = 3, mark: String = "…".to_owned()) -> (cut: String) {
        start >> cut >> end;
    }
}

flow! {
    /// Knows nothing of `limit`, and perhaps a `mark`.
    Cuts(text: String, mark: Option<String>) -> (cut: String) {
        start >> Cut >> end;
    }
}

flow! {
    EachCut(texts: Vec<String>, limit: usize) -> (cuts: Vec<String>) {
        node cuts: for text in texts { Cut };

        start >> cuts >> end;
    }
}

#[node]
fn seconds(pause: &Duration, factors: &[f64]) -> f64 {
    factors.iter().product::<f64>() * pause.as_secs_f64()
}

flow! {
    /// The first default is not a literal.
    Pauses(pause: Duration = Duration::from_secs(2), factors: Vec<f64> = vec![1.5, -1.0]) -> (seconds: f64) {
        start >> seconds >> end;
    }
}

flow! {
    PausesInside() -> (seconds: f64) {
        start >> Pauses >> end;
    }
}

async fn cut_of(flow: &dyn AnyFlow<Direct>, input: Value) -> Value {
    let output = run_any(flow, &Direct::new(), Saved::from_json(input).unwrap()).await;
    output.unwrap().into_json()["cut"].take()
}

#[tokio::test]
async fn the_builder_does_not_ask_for_it() {
    let input = CutInput::builder().text("flows".into()).build();
    assert_eq!(Cut::new().run(input).await.unwrap().cut, "flo…");
    let input = CutInput::builder().limit(2).text("flows".into()).build();
    assert_eq!(Cut::new().run(input).await.unwrap().cut, "fl…");
}

/// B-086 with D-24: defaults are applied to what is stored.
#[tokio::test]
async fn it_is_there_if_json_lacks_the_key_or_has_null() {
    assert_eq!(
        cut_of(&Cut::new(), json!({ "text": "flows" })).await,
        "flo…"
    );
    let given = json!({ "text": "flows", "limit": null, "mark": "" });
    assert_eq!(cut_of(&Cut::new(), given).await, "flo");
    let stored = AnyFlow::<Direct>::stored_input(
        &Cut::new(),
        Saved::from_json(json!({ "text": "flows" })).unwrap(),
    );
    let stored = stored.unwrap().into_json();
    assert_eq!(stored, json!({ "text": "flows", "limit": 3, "mark": "…" }));
}

#[tokio::test]
async fn all_that_is_wrong_is_said_beside_it() {
    let input = json!({ "limit": "x", "marks": "" });
    let input = Saved::from_json(input).unwrap();
    let ended = run_any(&Cut::new(), &Direct::new(), input).await;
    let Err(RunError::Input(error)) = ended else {
        panic!("{ended:?}")
    };
    let places = error.violations().iter();
    let places: Vec<String> = places
        .map(|one| format!("{} {}", one.code(), one.path()))
        .collect();
    assert_eq!(
        places,
        [
            "input.missing text",
            "input.wrong_type limit",
            "input.unexpected marks"
        ]
    );
}

#[tokio::test]
async fn a_flow_around_it_passes_what_it_has() {
    assert_eq!(
        cut_of(&Cuts::new(), json!({ "text": "flows" })).await,
        "flo…"
    );
    let given = json!({ "text": "flows", "mark": "!" });
    assert_eq!(cut_of(&Cuts::new(), given).await, "flo!");
    let input = EachCutInput {
        texts: vec!["ab".into(), "cde".into()],
        limit: 1,
    };
    let cuts = EachCut::new().run(input).await.unwrap().cuts;
    assert_eq!(cuts, ["a…", "c…"]);
    let output = PausesInside::new().run(PausesInsideInput {}).await.unwrap();
    assert_eq!(output.seconds, -3.0);
}

#[test]
fn documents_say_literals_and_exports_say_all() {
    let spec: Value = serde_json::from_str(Pauses::SPEC).unwrap();
    assert_eq!(spec["inputs"].get("required"), None);
    let properties = &spec["inputs"]["properties"];
    assert_eq!(properties["factors"]["default"], json!([1.5, -1.0]));
    assert_eq!(properties["pause"].get("default"), None);
    assert_eq!(properties["pause"][DEFAULT_OMITTED], true);

    let exported = PausesInside::new().export(ExportOptions::default());
    assert_eq!(exported.check(), []);
    let inner = exported.nodes[0].internal_flow.as_ref().unwrap();
    let pause = &inner.inputs.properties["pause"];
    assert_eq!(pause["default"], json!({ "secs": 2, "nanos": 0 }));
    assert_eq!(pause.get(DEFAULT_OMITTED), None);
}

/// What a loaded flow does without the default.
#[tokio::test]
async fn a_default_that_no_document_says_has_to_be_given() {
    let registry = flow_loader::registry![seconds, Pauses];
    let text = Pauses::SPEC;
    let loaded = flow_loader::load(text, flow_loader::Format::Json, &registry).unwrap();
    let error = loaded.run(json!({})).await.unwrap_err().to_string();
    assert_eq!(error, "input `pause`: it is missing");
    let given = loaded
        .run(json!({ "pause": { "secs": 1, "nanos": 0 } }))
        .await
        .unwrap();
    assert_eq!(given["seconds"], -1.5);

    let outer = flow_loader::load(PausesInside::SPEC, flow_loader::Format::Json, &registry);
    assert_eq!(
        outer.unwrap_err().to_string(),
        "\
1:325: `pauses` reads `pause`, which nothing writes [F007]
at /nodes/0/inputs/properties/pause
the program from which the document comes has a default, which the document does not say
help: write it before, or write the `default` in place of `defaultOmitted`"
    );

    for exported in [
        Pauses::new().export(ExportOptions::default()),
        PausesInside::new().export(ExportOptions::default()),
    ] {
        let loaded = flow_loader::load_document(&exported, &registry).unwrap();
        assert_eq!(loaded.run(json!({})).await.unwrap()["seconds"], -3.0);
    }
}

sources!("defaults.rs": Cut => CutAgain);

flow_law::law! {
    nodes: [cut, seconds],
    flows: [
        Cut { inputs: [json!({ "text": "flows" }), json!({ "text": "flows", "limit": null })] },
        Cuts { inputs: [json!({ "text": "flows" }), json!({ "text": "flows", "mark": "!" })] },
        EachCut,
    ],
    left_out: [Pauses, PausesInside],
}
