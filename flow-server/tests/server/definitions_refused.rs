//! Definitions that cannot be used, or not be read.

use std::sync::Arc;

use async_trait::async_trait;
use axum::http::Method;
use flow_definitions::{
    Content, DamagedDefinition, Definition, DefinitionError, DefinitionId, DefinitionStore,
    Definitions, MemoryDefinitions,
};
use flow_durable::{MemoryStore, Runtime};
use flow_loader::{Registry, registry};
use flow_runtime::prelude::*;
use flow_server::Server;
use serde_json::{Value, json};

use crate::support::{Client, tokens};

/// What a node writes with in a transaction, which no store has here.
struct Rows;

/// Books an amount.
#[node(transaction)]
async fn book(tx: &mut Rows, amount: &u64) -> u64 {
    let _ = tx;
    *amount
}

fn nodes() -> Registry {
    registry![book]
}

fn flow(name: &str) -> Value {
    json!({
        "version": "2.0.0",
        "name": name,
        "namespace": name.to_lowercase(),
        "inputs": {
            "type": "object",
            "properties": { "amount": { "rustType": "u64" } },
            "required": ["amount"],
        },
        "outputs": { "type": "object", "properties": {} },
        "nodes": [{ "type": "book", "id": "book" }],
        "edges": [],
        "ends": [{ "from": "book", "condition": "default", "label": "default" }],
    })
}

async fn serving(store: impl DefinitionStore) -> Client {
    let server = Server::new(Runtime::new(MemoryStore::new())).authentication(tokens());
    let definitions = Definitions::new(store, nodes());
    let server = server.definitions(definitions).await.unwrap();
    Client::new(server.router()).with_token("operator's token")
}

/// A node that writes in a transaction needs a store with a database, also where its flow is a document.
#[tokio::test]
async fn a_transaction_without_a_database_is_refused_when_the_definition_becomes_active() {
    let client = serving(MemoryDefinitions::new()).await;
    let body = json!({ "flow": flow("Booking"), "status": "active" });
    let refused = client.post("/definitions", body).await;
    let refused = refused.problem(409, "no-transactions");
    let told = refused["detail"].as_str().unwrap();
    assert!(told.contains("`book` writes in a transaction"), "{told}");
    // What is refused has not happened.
    let listed = client.get("/definitions").await.expect(200);
    assert_eq!(listed["definitions"], json!([]));
    let draft = client.post("/definitions", json!({ "flow": flow("Booking") }));
    let draft = draft.await.expect(201);
    let path = format!("/definitions/{}", draft["id"].as_str().unwrap());
    let active = json!({ "flow": flow("Booking"), "status": "active" });
    for (method, body) in [
        (Method::PATCH, json!({ "status": "active" })),
        (Method::PUT, active),
    ] {
        let at = format!("{path}?revision=1");
        let refused = client.send(method, &at, Some(body)).await;
        refused.problem(409, "no-transactions");
        assert_eq!(client.get(&path).await.expect(200), draft);
    }
    let flows = client.get("/flows").await.expect(200);
    assert_eq!(flows["flows"], json!([]));
}

/// A mistake that has to do with another place names that place, too.
#[tokio::test]
async fn a_finding_names_the_places_that_have_to_do_with_it() {
    let client = serving(MemoryDefinitions::new()).await;
    let mut twice = flow("Booking");
    twice["ends"] = json!([
        { "from": "book", "condition": "default", "label": "default" },
        { "from": "book", "condition": "default", "label": "other" },
    ]);
    let found = client
        .post("/definitions/validate", json!({ "flow": twice }))
        .await
        .expect(200);
    let findings = found["findings"].as_array().unwrap().iter();
    let mut related = findings.flat_map(|it| it["related"].as_array().unwrap());
    let first = related.next().unwrap_or_else(|| panic!("{found:#}"));
    assert_eq!(first["pointer"], "/flow/ends/0/condition");
    assert!(first["message"].is_string());
}

/// A store in which one definition is damaged.
struct Damaged(MemoryDefinitions);

#[async_trait]
impl DefinitionStore for Damaged {
    async fn list(&self) -> Result<Vec<Result<Definition, DamagedDefinition>>, DefinitionError> {
        let mut listed = self.0.list().await?;
        listed.insert(0, Err(DamagedDefinition::new("1", "Broken", "EOF")));
        Ok(listed)
    }

    async fn get(&self, id: DefinitionId) -> Result<Option<Definition>, DefinitionError> {
        self.0.get(id).await
    }

    async fn insert(&self, definition: &Definition) -> Result<(), DefinitionError> {
        self.0.insert(definition).await
    }

    async fn replace(&self, definition: &Definition, expected: u64) -> Result<(), DefinitionError> {
        self.0.replace(definition, expected).await
    }

    async fn remove(&self, id: DefinitionId, expected: u64) -> Result<(), DefinitionError> {
        self.0.remove(id, expected).await
    }
}

#[tokio::test]
async fn one_that_is_damaged_is_named_beside_the_others() {
    let store = MemoryDefinitions::new();
    let definitions = Definitions::new(Damaged(store), nodes());
    definitions
        .create(Content::new(flow("Booking")))
        .await
        .unwrap();
    let server = Server::new(Runtime::new(Arc::new(MemoryStore::new()))).authentication(tokens());
    let server = server.definitions(definitions).await.unwrap();
    let client = Client::new(server.router()).with_token("operator's token");
    let listed = client.get("/definitions").await.expect(200);
    assert_eq!(listed["definitions"][0]["name"], "Booking");
    let damaged = json!([{ "id": "1", "name": "Broken", "reason": "EOF" }]);
    assert_eq!(listed["damaged"], damaged);
}
