//! Active definitions and the flows of a runtime stay in step.

use flow_definitions::{ActiveDefinitions, DefinitionError};
use flow_durable::{MemoryStore, Runtime};
use serde_json::json;

use super::{definitions, draft};

fn names(runtime: &Runtime) -> Vec<String> {
    let flows = runtime.flows();
    flows.iter().map(|flow| flow.name().to_owned()).collect()
}

#[tokio::test]
async fn a_definition_is_a_flow_while_it_is_active() {
    let runtime = Runtime::new(MemoryStore::new());
    let active = ActiveDefinitions::new(definitions(), runtime.clone());
    let active = active.await.unwrap();
    let article = active.create(draft("Article")).await.unwrap();
    assert!(names(&runtime).is_empty());

    let patch = json!({ "status": "active" });
    let article = active.patch(article.id, 1, &patch).await.unwrap();
    assert_eq!(names(&runtime), ["Article"]);

    let patch = json!({ "flow": { "name": "Essay" } });
    let article = active.patch(article.id, 2, &patch).await.unwrap();
    assert_eq!(names(&runtime), ["Essay"]);
    assert_eq!(active.current(article.id).await.unwrap(), article);

    active.delete(article.id, 3).await.unwrap();
    assert!(names(&runtime).is_empty());
}

#[tokio::test]
async fn a_definition_with_the_name_of_another_flow_is_not_stored() {
    let runtime = Runtime::new(MemoryStore::new());
    let first = ActiveDefinitions::new(definitions(), runtime.clone());
    let first = first.await.unwrap();
    let article = first.create(draft("Article")).await.unwrap();
    let patch = json!({ "status": "active" });
    first.patch(article.id, 1, &patch).await.unwrap();

    let second = ActiveDefinitions::new(definitions(), runtime.clone());
    let second = second.await.unwrap();
    let error = second.create(draft("Article")).await.unwrap_err();
    assert!(
        matches!(&error, DefinitionError::FlowNameTaken(name) if name == "Article"),
        "{error}"
    );
    assert!(second.definitions().list().await.unwrap().is_empty());

    first.withdraw_all();
    assert!(names(&runtime).is_empty());
    second.create(draft("Article")).await.unwrap();
}
