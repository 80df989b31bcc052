//! Values for the inputs of a definition's flow.

use flow_definitions::{Content, DefinitionError, Definitions, MemoryDefinitions, Severity};
use flow_loader::{Dependency, Registry, registry};
use flow_runtime::prelude::*;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{definitions, draft};

fn configured(values: Value) -> Content {
    let mut content = draft("Article");
    content.configuration = serde_json::from_value(values).unwrap();
    content
}

async fn text(content: &Content, input: Value) -> Value {
    let loaded = definitions().load(content).unwrap();
    assert!(loaded.warnings.is_empty());
    loaded.flow.run(input).await.unwrap()["text"].clone()
}

#[tokio::test]
async fn a_right_value_is_what_the_flow_gets() {
    let content = configured(json!({ "words": 3 }));
    assert_eq!(
        text(&content, json!({ "topic": "sea" })).await,
        "sea sea sea"
    );
    // Who starts it may still say otherwise.
    let input = json!({ "topic": "sea", "words": 1 });
    assert_eq!(text(&content, input).await, "sea");
    // An input that has no default, and would have to be given.
    let content = configured(json!({ "topic": "crab" }));
    let loaded = definitions().load(&content).unwrap();
    assert!(loaded.flow.document().inputs.required.is_empty());
    assert_eq!(text(&content, json!({})).await, "crab crab");
}

#[tokio::test]
async fn a_missing_value_is_the_default() {
    let content = configured(json!({}));
    assert_eq!(text(&content, json!({ "topic": "sea" })).await, "sea sea");
}

#[tokio::test]
async fn a_value_of_another_type_is_an_error_and_never_the_default() {
    for wrong in [json!("3"), json!(-3), json!(null)] {
        let content = configured(json!({ "words": wrong }));
        let Err(DefinitionError::Unsound(findings)) = definitions().load(&content) else {
            panic!("`{wrong}` is not a `u64`");
        };
        assert_eq!(findings.len(), 1);
        assert_eq!(findings[0].problem.pointer, "/configuration/words");
        assert!(findings[0].problem.message.contains("u64"));
    }
}

#[tokio::test]
async fn an_unknown_value_is_reported_and_has_no_effect() {
    let content = configured(json!({ "wrods": 3 }));
    let loaded = definitions().load(&content).unwrap();
    let output = loaded.flow.run(json!({ "topic": "sea" })).await.unwrap();
    assert_eq!(output["text"], "sea sea");
    let [warning] = &loaded.warnings[..] else {
        panic!("{:?}", loaded.warnings);
    };
    assert_eq!(warning.severity, Severity::Warning);
    assert_eq!(warning.problem.pointer, "/configuration/wrods");
    assert_eq!(
        warning.problem.help.as_deref(),
        Some("did you mean `words`?")
    );
}

#[tokio::test]
async fn resetting_gives_the_defaults() {
    let definitions = definitions();
    let content = configured(json!({ "words": 3, "wrods": 3 }));
    let id = definitions.create(content).await.unwrap().id;
    let reset = definitions.reset_configuration(id, 1).await.unwrap();
    assert_eq!((reset.revision, &reset.content), (2, &draft("Article")));
    assert_eq!(
        text(&reset.content, json!({ "topic": "sea" })).await,
        "sea sea"
    );
}

#[tokio::test]
async fn an_active_definition_does_not_get_a_wrong_value() {
    let definitions = definitions();
    let id = definitions.create(draft("Article")).await.unwrap().id;
    let patch = json!({ "status": "active", "configuration": { "words": "many" } });
    let error = definitions.patch(id, 1, &patch).await.unwrap_err();
    assert!(
        error.to_string().contains("/configuration/words"),
        "{error}"
    );
}

trait Citations: Send + Sync {
    fn cite(&self, text: &str) -> String;
}

struct Numbered;

impl Citations for Numbered {
    fn cite(&self, text: &str) -> String {
        format!("{text} [1]")
    }
}

#[derive(Deserialize)]
struct Cite {
    citations: Dependency<dyn Citations>,
}

#[node(writes = text)]
impl Cite {
    fn exec(&self, text: &str) -> String {
        self.citations.cite(text)
    }
}

#[node(writes = text)]
fn answer(question: &str) -> String {
    question.to_uppercase()
}

/// A flow with a part that a flag switches on.
fn flagged() -> Content {
    let flow = json!({
        "version": "2.0.0",
        "name": "Answering",
        "namespace": "answering",
        "inputs": {
            "type": "object",
            "properties": { "question": {}, "citing": { "rustType": "bool", "default": false } },
            "required": ["question"],
        },
        "outputs": { "type": "object", "properties": { "text": {} }, "required": ["text"] },
        "nodes": [
            { "type": "answer", "id": "answer" },
            {
                "type": "flow.branch",
                "id": "flag",
                "params": { "cases": [{ "when": "citing", "action": "on" }], "otherwise": "off" }
            },
            { "type": "Cite", "id": "cite", "params": { "citations": "numbered" } },
        ],
        "edges": [
            { "from": "answer", "to": "flag", "condition": "default" },
            { "from": "flag", "to": "cite", "condition": "on" },
        ],
        "entryNodeId": "answer",
        "ends": [
            { "from": "flag", "condition": "off", "label": "default" },
            { "from": "cite", "condition": "default", "label": "default" },
        ],
    });
    Content::new(flow)
}

fn with(registry: Registry) -> Definitions {
    Definitions::new(MemoryDefinitions::new(), registry)
}

#[tokio::test]
async fn a_flag_switches_a_part_of_the_flow_on() {
    let nodes =
        registry![answer, Cite].provide::<dyn Citations>("numbered", std::sync::Arc::new(Numbered));
    let definitions = with(nodes);
    let mut content = flagged();
    for (flag, expected) in [(None, "WHY"), (Some(false), "WHY"), (Some(true), "WHY [1]")] {
        let flag = flag.map(|flag| ("citing".to_owned(), Value::Bool(flag)));
        content.configuration = flag.into_iter().collect();
        let loaded = definitions.load(&content).unwrap();
        let output = loaded.flow.run(json!({ "question": "why" })).await.unwrap();
        assert_eq!(output["text"], expected);
    }
    for wrong in [json!("yes"), json!(1)] {
        content.configuration.insert("citing".to_owned(), wrong);
        let findings = definitions.validate(&content);
        assert!(findings[0].is_error());
        assert_eq!(findings[0].problem.pointer, "/configuration/citing");
    }
    content.configuration = [("citations".to_owned(), true.into())]
        .into_iter()
        .collect();
    let unknown = &definitions.load(&content).unwrap().warnings[0].problem;
    assert_eq!(unknown.pointer, "/configuration/citations");
}

#[test]
fn a_part_whose_service_is_missing_is_an_error() {
    let mut content = flagged();
    for flag in [true, false] {
        content
            .configuration
            .insert("citing".to_owned(), flag.into());
        let findings = with(registry![answer, Cite]).validate(&content);
        assert!(findings[0].is_error());
        assert_eq!(
            findings[0].problem.pointer,
            "/flow/nodes/2/params/citations"
        );
    }
}
