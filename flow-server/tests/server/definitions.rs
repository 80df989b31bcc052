//! Flows that operators edit.

use std::sync::Arc;

use axum::http::{Method, header};
use flow_definitions::{Content, Definitions, MemoryDefinitions, Status};
use flow_durable::{MemoryStore, Runtime};
use flow_loader::{Registry, registry};
use flow_runtime::prelude::*;
use flow_server::Server;
use serde_json::{Value, json};

use crate::support::{Client, runtime, tokens};

/// Repeats a word.
#[node(writes = text, title = "Repeat")]
fn repeat(word: &str, times: u64) -> String {
    vec![word; times as usize].join(" ")
}

fn nodes() -> Registry {
    registry![repeat]
}

pub(crate) fn flow(name: &str) -> Value {
    json!({
        "version": "2.0.0",
        "name": name,
        "namespace": "echo",
        "inputs": {
            "type": "object",
            "properties": {
                "word": { "rustType": "String" },
                "times": { "rustType": "u64", "default": 1 },
            },
            "required": ["word"],
        },
        "outputs": {
            "type": "object",
            "properties": { "text": { "rustType": "String" } },
            "required": ["text"],
        },
        "nodes": [{ "type": "repeat", "id": "repeat" }],
        "edges": [],
        "ends": [{ "from": "repeat", "condition": "default", "label": "default" }],
    })
}

async fn serving(runtime: Runtime, definitions: Definitions) -> Client {
    let server = Server::new(runtime).authentication(tokens());
    let server = server.definitions(definitions).await.unwrap();
    Client::new(server.router()).with_token("operator's token")
}

/// An operator of a server without definitions.
pub(crate) async fn operator() -> Client {
    let (runtime, _) = runtime(&Arc::default());
    serving(runtime, Definitions::new(MemoryDefinitions::new(), nodes())).await
}

/// Keeps a definition, and returns its path.
pub(crate) async fn kept(client: &Client, body: Value) -> String {
    let created = client.post("/definitions", body).await;
    let id = created.expect(201)["id"].as_str().unwrap().to_owned();
    let path = format!("/definitions/{id}");
    assert_eq!(created.headers[header::LOCATION], *path);
    path
}

pub(crate) async fn patched(client: &Client, path: &str, patch: Value) -> Value {
    client
        .send(Method::PATCH, path, Some(patch))
        .await
        .expect(200)
}

pub(crate) async fn names_of_flows(client: &Client) -> Vec<String> {
    let listed = client.get("/flows").await.expect(200);
    let flows = listed["flows"].as_array().unwrap().iter();
    let own = ["Claim", "Counting", "Failing", "Pass"];
    let names = flows.map(|flow| flow["name"].as_str().unwrap().to_owned());
    names.filter(|name| !own.contains(&&**name)).collect()
}

#[tokio::test]
async fn a_flow_is_built_and_started() {
    let client = operator().await;
    let catalog = client.get("/catalog").await.expect(200);
    assert_eq!(catalog["nodes"][0]["name"], "repeat");
    assert_eq!(catalog["nodes"][0]["title"], "Repeat");

    let mut begun = flow(" Echo ");
    begun["ends"] = json!([]);
    let path = kept(&client, json!({ "flow": begun })).await;
    let draft = client.get(&path).await.expect(200);
    assert_eq!(
        (&draft["name"], &draft["status"]),
        (&json!("Echo"), &json!("draft"))
    );
    assert_eq!(draft["findings"][0]["code"], "F002");
    assert_eq!(draft["findings"][0]["pointer"], "/flow/nodes/0");
    client
        .post(&format!("{path}/executions"), json!({ "word": "hi" }))
        .await
        .problem(409, "draft");
    assert_eq!(names_of_flows(&client).await, [""; 0]);

    let patch = json!({
        "flow": { "ends": flow("")["ends"] },
        "status": "active",
        "configuration": { "times": 2 },
        "layout": { "repeat": { "x": 1, "y": 2.5 } },
    });
    let active = patched(&client, &format!("{path}?revision=1"), patch).await;
    assert_eq!(
        (&active["revision"], &active["findings"]),
        (&json!(2), &json!([]))
    );
    assert_eq!(
        active["layout"],
        json!({ "repeat": { "x": 1.0, "y": 2.5 } })
    );
    assert_eq!(client.get(&path).await.expect(200), active);
    assert_eq!(names_of_flows(&client).await, ["Echo"]);
    // Whoever reads no Rust knows what to send, too.
    let flows = client.get("/flows").await.expect(200);
    let flows = flows["flows"].as_array().unwrap();
    let echo = flows.iter().find(|flow| flow["name"] == "Echo").unwrap();
    assert_eq!(
        echo["inputs"]["properties"],
        json!({
            "word": { "type": "string", "rustType": "String" },
            "times": { "type": "integer", "minimum": 0, "rustType": "u64", "default": 2 },
        })
    );

    let start = format!("{path}/executions?wait=5&owner=ann");
    let execution = client
        .post(&start, json!({ "word": "hi" }))
        .await
        .expect(201);
    assert_eq!(
        execution["output"],
        json!({ "text": "hi hi", "end": "default" })
    );
    assert_eq!(execution["owner"], "ann");
    // Its owners start it as any other flow.
    let ann = client.with_token("ann's token");
    let path_of_flow = "/flows/Echo/executions?wait=5";
    let execution = ann
        .post(path_of_flow, json!({ "word": "ho" }))
        .await
        .expect(201);
    assert_eq!(execution["output"]["text"], "ho ho");

    let source = client.get(&format!("{path}/source")).await;
    assert_eq!(source.status, 200);
    let first = "flow! {\n    Echo(word: String, times: u64 = 1) -> (text: String) {\n";
    assert!(source.text.starts_with(first), "{}", source.text);
}

#[tokio::test]
async fn definitions_are_listed_and_removed() {
    let client = operator().await;
    let one = kept(&client, json!({ "flow": flow("One"), "status": "active" })).await;
    kept(&client, json!({ "flow": flow("Two") })).await;
    let listed = client.get("/definitions").await.expect(200);
    let definitions = listed["definitions"].as_array().unwrap();
    let names: Vec<&Value> = definitions.iter().map(|one| &one["name"]).collect();
    assert_eq!(names, ["Two", "One"]);
    assert_eq!(definitions[0].get("flow"), None);

    let delete = |revision: u64| {
        let (client, path) = (client.clone(), format!("{one}?revision={revision}"));
        async move { client.send(Method::DELETE, &path, None).await }
    };
    let refused = delete(7).await.problem(409, "revision");
    assert_eq!(refused["storedRevision"], 1);
    assert_eq!(names_of_flows(&client).await, ["One"]);
    assert_eq!(delete(1).await.status, 204);
    assert_eq!(names_of_flows(&client).await, [""; 0]);
    client.get(&one).await.problem(404, "not-found");
    delete(1).await.problem(404, "not-found");
    client
        .get("/definitions/one")
        .await
        .problem(404, "not-found");
}

#[tokio::test]
async fn what_is_refused_changes_nothing() {
    let client = operator().await;
    kept(&client, json!({ "flow": flow("Other") })).await;
    let path = kept(&client, json!({ "flow": flow("Echo"), "status": "active" })).await;
    let before = client.get(&path).await.expect(200);
    let refused = [
        (2, json!({}), 409, "revision"),
        (1, json!([]), 400, "bad-request"),
        (1, json!({ "state": "draft" }), 400, "bad-request"),
        (1, json!({ "flow": { "name": " " } }), 422, "name"),
        (1, json!({ "flow": { "name": "Other" } }), 409, "name-taken"),
        // The flow of the program.
        (
            1,
            json!({ "flow": { "name": " Claim" } }),
            409,
            "name-taken",
        ),
        (
            1,
            json!({ "configuration": { "times": "two" } }),
            422,
            "unsound",
        ),
    ];
    for (revision, patch, status, kind) in refused {
        let path_of_patch = format!("{path}?revision={revision}");
        let answer = client
            .send(Method::PATCH, &path_of_patch, Some(patch))
            .await;
        let problem = answer.problem(status, kind);
        if kind == "unsound" {
            assert_eq!(problem["errors"][0]["pointer"], "/configuration/times");
        }
        assert_eq!(client.get(&path).await.expect(200), before);
        assert_eq!(names_of_flows(&client).await, ["Echo"]);
    }
    let without = client.send(Method::PATCH, &path, Some(json!({}))).await;
    without.problem(400, "bad-request");
    for body in [
        json!({ "flow": flow("Claim") }),
        json!({ "flow": flow("Echo") }),
    ] {
        client
            .post("/definitions", body)
            .await
            .problem(409, "name-taken");
    }
    let typo = json!({ "flow": flow("New"), "layuot": {} });
    client
        .post("/definitions", typo)
        .await
        .problem(400, "bad-request");
    let listed = client.get("/definitions").await.expect(200);
    assert_eq!(listed["definitions"].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn a_definition_is_validated_as_it_is_written() {
    let client = operator().await;
    let mut written = flow("Echo");
    written["nodes"][0]["type"] = "repaet".into();
    let body = json!({ "flow": written, "configuration": { "tiems": 2 } });
    let found = client.post("/definitions/validate", body).await.expect(200);
    let expected = json!([
        {
            "severity": "error",
            "code": "F004",
            "message": "no node `repaet` is registered",
            "pointer": "/flow/nodes/0/type",
            "notes": [],
            "related": [],
            "help": "did you mean `repeat`?",
        },
        {
            "severity": "warning",
            "code": "F015",
            "message": "the flow has no input `tiems`, so that the value has no effect",
            "pointer": "/configuration/tiems",
            "notes": [],
            "related": [],
            "help": "did you mean `times`?",
        },
    ]);
    assert_eq!(found["findings"], expected);
    let listed = client.get("/definitions").await.expect(200);
    assert_eq!(listed["definitions"], json!([]));
}

#[tokio::test]
async fn active_definitions_are_there_when_the_server_starts() {
    let definitions = Definitions::new(MemoryDefinitions::new(), nodes());
    for (name, status) in [
        ("Draft", Status::Draft),
        ("Echo", Status::Active),
        ("Claim", Status::Active),
    ] {
        let mut content = Content::new(flow(name));
        content.status = status;
        definitions.create(content).await.unwrap();
    }
    let (runtime, _) = runtime(&Arc::default());
    let client = serving(runtime, definitions.clone()).await;
    assert_eq!(names_of_flows(&client).await, ["Echo"]);
    // That of the program is not replaced.
    let claim = client.get("/flows/Claim").await.expect(200);
    assert_eq!(claim["namespace"], "claim");

    // Another process has changed it.
    let echo = definitions.list().await.unwrap();
    let echo = echo
        .iter()
        .flatten()
        .find(|one| one.name() == "Echo")
        .unwrap();
    let patch = json!({ "configuration": { "times": 2 } });
    definitions.patch(echo.id, 1, &patch).await.unwrap();
    let path = format!("/definitions/{}/executions?wait=5", echo.id);
    let execution = client
        .post(&path, json!({ "word": "hi" }))
        .await
        .expect(201);
    assert_eq!(execution["output"]["text"], "hi hi");
}

/// A definition that another process removes, and the definitions of an earlier call.
#[tokio::test]
async fn what_is_not_kept_any_more_cannot_be_started() {
    let definitions = Definitions::new(MemoryDefinitions::new(), nodes());
    let mut content = Content::new(flow("Echo"));
    content.status = Status::Active;
    let echo = definitions.create(content).await.unwrap();
    let (runtime, _) = runtime(&Arc::default());
    let client = serving(runtime.clone(), definitions.clone()).await;
    assert_eq!(names_of_flows(&client).await, ["Echo"]);

    definitions.delete(echo.id, 1).await.unwrap();
    let path = format!("/definitions/{}/executions", echo.id);
    let input = json!({ "word": "hi" });
    let refused = client.post(&path, input).await;
    refused.problem(404, "not-found");
    assert_eq!(names_of_flows(&client).await, [""; 0]);

    let kept = |name: &'static str| async move {
        let definitions = Definitions::new(MemoryDefinitions::new(), nodes());
        let mut content = Content::new(flow(name));
        content.status = Status::Active;
        definitions.create(content).await.unwrap();
        definitions
    };
    let server = Server::new(runtime).authentication(tokens());
    let server = server.definitions(kept("First").await).await.unwrap();
    let server = server.definitions(kept("Second").await).await.unwrap();
    let client = Client::new(server.router()).with_token("operator's token");
    assert_eq!(names_of_flows(&client).await, ["Second"]);
}

#[tokio::test]
async fn only_operators_edit() {
    let client = operator().await;
    let path = kept(&client, json!({ "flow": flow("Echo"), "status": "active" })).await;
    let ann = client.with_token("ann's token");
    let content = json!({ "flow": flow("Ann") });
    let requests = [
        (Method::GET, "/catalog".to_owned(), None),
        (Method::GET, "/definitions".to_owned(), None),
        (
            Method::POST,
            "/definitions".to_owned(),
            Some(content.clone()),
        ),
        (
            Method::POST,
            "/definitions/validate".to_owned(),
            Some(content),
        ),
        (Method::GET, path.clone(), None),
        (
            Method::PATCH,
            format!("{path}?revision=1"),
            Some(json!({ "status": "draft" })),
        ),
        (
            Method::PUT,
            format!("{path}?revision=1"),
            Some(json!({ "flow": flow("Ann") })),
        ),
        (Method::DELETE, format!("{path}?revision=1"), None),
        (Method::GET, format!("{path}/source"), None),
        (
            Method::POST,
            format!("{path}/executions"),
            Some(json!({ "word": "hi" })),
        ),
    ];
    for (method, path, body) in requests {
        ann.send(method, &path, body)
            .await
            .problem(403, "forbidden");
    }
    let definition = client.get(&path).await.expect(200);
    assert_eq!(
        (&definition["revision"], &definition["status"]),
        (&json!(1), &json!("active"))
    );
}

#[tokio::test]
async fn a_server_without_definitions_has_none() {
    let server = Server::new(Runtime::new(MemoryStore::new())).authentication(tokens());
    let client = Client::new(server.router()).with_token("operator's token");
    for path in ["/catalog", "/definitions"] {
        let problem = client.get(path).await.problem(404, "not-found");
        assert_eq!(problem["detail"], "this server keeps no definitions");
    }
}

/// Asks a person, and says the answer as often as the configuration wants.
fn asking() -> Value {
    let mut flow = flow("Asking");
    flow["inputs"]["properties"] = json!({ "times": { "rustType": "u64", "default": 1 } });
    flow["inputs"]["required"] = json!([]);
    let params = json!({ "prompt": "Which word?", "expects": "Word" });
    flow["nodes"] = json!([
        { "type": "flow.human", "id": "ask", "params": params },
        { "type": "repeat", "id": "repeat" },
    ]);
    flow["edges"] = json!([{ "from": "ask", "to": "repeat", "condition": "said" }]);
    flow["entryNodeId"] = "ask".into();
    flow
}

#[node(human = "Which word?")]
#[derive(serde::Serialize, serde::Deserialize)]
enum Word {
    Said { word: String },
}

#[tokio::test]
async fn an_execution_keeps_its_configuration_also_after_a_restart() {
    let nodes = registry![repeat, Word];
    let definitions = Definitions::new(MemoryDefinitions::new(), nodes);
    let store = Arc::new(MemoryStore::new());
    let client = serving(Runtime::new(store.clone()), definitions.clone()).await;
    let body = json!({ "flow": asking(), "status": "active", "configuration": { "times": 2 } });
    let path = kept(&client, body).await;
    let asked = async |client: &Client| {
        let start = format!("{path}/executions?wait=5");
        let execution = client.post(&start, json!({})).await.expect(201);
        let id = execution["id"].as_str().unwrap().to_owned();
        let asked = client.get(&format!("/executions/{id}/questions")).await;
        let token = asked.expect(200)["questions"][0]["token"].clone();
        (id, token.as_str().unwrap().to_owned())
    };
    let questions = [asked(&client).await, asked(&client).await];
    let patch = json!({ "configuration": { "times": 3 } });
    patched(&client, &format!("{path}?revision=1"), patch).await;
    let said = async |client: &Client, (id, token): &(String, String)| {
        let answer = json!({ "Said": { "word": "hi" } });
        let path = format!("/questions/{token}/answer");
        client.post(&path, answer).await.expect(200);
        let execution = client
            .get(&format!("/executions/{id}?wait=5"))
            .await
            .expect(200);
        execution["output"]["text"].clone()
    };
    assert_eq!(said(&client, &questions[0]).await, "hi hi");

    drop(client);
    let runtime = Runtime::new(store);
    let client = serving(runtime.clone(), definitions).await;
    runtime.recover().await.unwrap();
    assert_eq!(said(&client, &questions[1]).await, "hi hi");
    let question = asked(&client).await;
    assert_eq!(said(&client, &question).await, "hi hi hi");
}
