//! Definitions that change while a server has them.

use axum::http::Method;
use serde_json::{Value, json};

use crate::definitions::{flow, kept, names_of_flows, operator, patched};

#[tokio::test]
async fn a_definition_is_replaced_as_a_whole() {
    let client = operator().await;
    kept(&client, json!({ "flow": flow("Other") })).await;
    let body = json!({
        "flow": flow("Echo"),
        "status": "active",
        "configuration": { "times": 2 },
        "layout": { "repeat": { "x": 1, "y": 2 } },
    });
    let path = kept(&client, body).await;
    let replace = |revision: u64, body: Value| {
        let (client, path) = (client.clone(), format!("{path}?revision={revision}"));
        async move { client.send(Method::PUT, &path, Some(body)).await }
    };
    let before = client.get(&path).await.expect(200);
    let unsound = json!({ "flow": { "name": "Echo", "nodes": [] }, "status": "active" });
    for (revision, body, status, kind) in [
        (2, json!({ "flow": flow("Echo") }), 409, "revision"),
        (1, json!({ "flow": flow("Other") }), 409, "name-taken"),
        (1, json!({ "flow": flow(" Claim") }), 409, "name-taken"),
        (1, json!({ "flow": flow("") }), 422, "name"),
        (1, json!({ "status": "draft" }), 400, "bad-request"),
        (1, unsound, 422, "unsound"),
    ] {
        replace(revision, body).await.problem(status, kind);
        assert_eq!(client.get(&path).await.expect(200), before);
    }
    let body = json!({ "flow": flow("Shout"), "status": "active" });
    let after = replace(1, body).await.expect(200);
    assert_eq!(
        (
            &after["revision"],
            &after["layout"],
            &after["configuration"]
        ),
        (&json!(2), &json!({}), &json!({}))
    );
    assert_eq!(client.get(&path).await.expect(200), after);
    assert_eq!(names_of_flows(&client).await, ["Shout"]);
    replace(2, json!({ "flow": flow("Shout") }))
        .await
        .expect(200);
    assert_eq!(names_of_flows(&client).await, [""; 0]);
}

#[tokio::test]
async fn a_changed_definition_is_a_new_version() {
    let client = operator().await;
    let path = kept(&client, json!({ "flow": flow("Echo"), "status": "active" })).await;
    let start = |name: &'static str| {
        let client = client.clone();
        async move {
            let path = format!("/flows/{name}/executions?wait=5");
            client.post(&path, json!({ "word": "hi" })).await
        }
    };
    assert_eq!(start("Echo").await.expect(201)["output"]["text"], "hi");
    let patch = json!({ "configuration": { "times": 3 } });
    patched(&client, &format!("{path}?revision=1"), patch).await;
    assert_eq!(
        start("Echo").await.expect(201)["output"]["text"],
        "hi hi hi"
    );
    // Renamed, it starts under the new name only, and as a draft not at all.
    let patch = json!({ "flow": { "name": "Shout" }, "configuration": null });
    patched(&client, &format!("{path}?revision=2"), patch).await;
    start("Echo").await.problem(404, "not-found");
    assert_eq!(start("Shout").await.expect(201)["output"]["text"], "hi");
    patched(
        &client,
        &format!("{path}?revision=3"),
        json!({ "status": "draft" }),
    )
    .await;
    start("Shout").await.problem(404, "not-found");
    // Somebody else can have the name then.
    let patch = json!({ "flow": { "name": "Echo" }, "status": "active" });
    patched(&client, &format!("{path}?revision=4"), patch).await;
    start("Echo").await.expect(201);
}
