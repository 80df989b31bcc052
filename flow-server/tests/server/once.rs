//! Requests that say something twice, or that would be read as something else than was sent.

use axum::body::Body;
use axum::http::Method;
use flow_server::Server;
use serde_json::{Value, json};

use crate::support::{Client, runtime, served, tokens};

/// The client at the next address: one address is not told the reason for each refusal.
fn elsewhere(client: &Client, number: usize) -> Client {
    client.from(&format!("10.0.1.{number}:5000"))
}

#[tokio::test]
async fn a_header_that_decides_something_is_there_once() {
    let client = served().client;
    let (id, token) = client.asking().await;
    let mut number = 0;
    for (name, value) in [
        ("authorization", "Bearer ann's token"),
        ("authorization", "Bearer ben's token"),
        ("authorization", "Basic YW5uOg=="),
        ("content-type", "application/json"),
        ("idempotency-key", "b"),
        ("last-event-id", "2"),
        ("host", "b.example.org"),
        ("origin", "null"),
        ("sec-fetch-site", "none"),
        ("sec-fetch-mode", "navigate"),
    ] {
        let twice = match name {
            "authorization" | "content-type" => client.with_header(name, value),
            _ => client.with_header(name, "1").with_header(name, value),
        };
        for path in [
            "/flows".to_owned(),
            format!("/executions/{id}/events"),
            format!("/questions/{token}"),
        ] {
            number += 1;
            let refused = elsewhere(&twice, number).get(&path).await;
            let detail = refused.problem(400, "bad-request")["detail"].clone();
            assert_eq!(
                detail,
                format!("the header `{name}` is there more than once")
            );
        }
    }
    // Nothing was started, and the question is open.
    client.get(&format!("/questions/{token}")).await.expect(200);
}

#[tokio::test]
async fn a_request_has_a_token_or_a_link() {
    let client = served().client;
    let (id, _) = client.asking().await;
    let path = format!("/executions/{id}");
    let links = format!("{path}/links");
    let made = client.post(&links, json!({ "expiresInSeconds": 60 })).await;
    let link = made.expect(201)["link"].as_str().unwrap().to_owned();
    let guest = client.without_token();
    guest.get(&format!("{path}?link={link}")).await.expect(200);
    guest
        .get(&format!("{path}?l%69nk={link}"))
        .await
        .expect(200);
    let both =
        "the request has a token in `Authorization` and a link in its query: send one of them";
    let twice = "the query has more than one link";
    let cases = [
        (&client, format!("{path}?link={link}"), both),
        (&client, format!("{path}?link="), both),
        (&client, format!("{path}?l%69nk={link}"), both),
        (&client, format!("{path}?executionToken={link}"), both),
        (&guest, format!("{path}?link={link}&link={link}"), twice),
        (
            &guest,
            format!("{path}?link={link}&executionToken=x"),
            twice,
        ),
    ];
    for (number, (client, path, reason)) in cases.into_iter().enumerate() {
        let refused = elsewhere(client, number).get(&path).await;
        assert_eq!(
            refused.problem(400, "bad-request")["detail"],
            reason,
            "{path}"
        );
    }
}

#[tokio::test]
async fn the_routes_of_the_agent_framework_refuse_the_same() {
    let server = Server::new(runtime(&Default::default()).0).authentication(tokens());
    let client = Client::new(server.agent_framework_router()).with_token("ann's token");
    let twice = client.with_header("authorization", "Bearer ben's token");
    let refused = twice.get("/api/flows/claim?executionId=x").await;
    assert_eq!(refused.status.as_u16(), 400, "{}", refused.text);
    let refused = client
        .get("/api/flows/claim?executionId=x&executionToken=y")
        .await;
    assert_eq!(refused.status.as_u16(), 400, "{}", refused.text);
    let refused = client
        .get("/api/flows/claim?executionId=x&executionId=y")
        .await;
    assert_eq!(refused.status.as_u16(), 400, "{}", refused.text);
    let body = Body::from(r#"{"prompt": "a", "prompt": "b"}"#);
    let refused = client
        .send_body(Method::POST, "/api/flows/claim", body)
        .await;
    assert_eq!(refused.status.as_u16(), 400, "{}", refused.text);
    assert!(
        refused.text.contains("the key `prompt` is there twice"),
        "{}",
        refused.text
    );
}

#[tokio::test]
async fn a_parameter_is_there_once() {
    let client = served().client;
    let (id, _) = client.asking().await;
    for query in [
        "executions?limit=1&limit=2".to_owned(),
        "executions?flow=Claim&flow=Pass".to_owned(),
        "executions?status=paused&st%61tus=failed".to_owned(),
        "questions?limit=1&limit=1".to_owned(),
        format!("executions/{id}/journal?from=1&from=2"),
        format!("executions/{id}/events?after=1&after=2"),
        format!("executions/{id}/state?seq=1&seq=2"),
    ] {
        let refused = client.get(&format!("/{query}")).await;
        let detail = refused.problem(400, "bad-request")["detail"].to_string();
        assert!(detail.contains("duplicate field"), "{query}: {detail}");
    }
}

#[tokio::test]
async fn a_body_means_one_thing() {
    let client = served().client;
    let (id, token) = client.asking().await;
    let start = "/flows/Claim/executions".to_owned();
    let answer = format!("/questions/{token}/answer");
    for (path, body, reason) in [
        (
            &start,
            r#"{"employee":"Ann","amount":1,"amount":2}"#,
            "the key `amount` is there twice",
        ),
        (
            &start,
            r#"{"employee":"Ann","amount":1,"amo\u0075nt":2}"#,
            "the key `amount` is there twice",
        ),
        (
            &start,
            r#"{"employee":"Ann","amount":18446744073709551616}"#,
            "18446744073709551616 would be rounded",
        ),
        (
            &start,
            r#"{"employee":"Ann","amount":1.00000000000000001}"#,
            "1.00000000000000001 would be rounded",
        ),
        (
            &start,
            r#"{"employee":"Ann","amount":1e400}"#,
            "number out of range",
        ),
        (
            &start,
            "{\"employee\":\"Ann\",\"amount\":1}{}",
            "trailing characters",
        ),
        (
            &answer,
            r#"{"Approve":{"comment":"a"},"Approve":{"comment":"b"}}"#,
            "the key `Approve` is there twice",
        ),
        (&answer, "", "the body is empty"),
        (&answer, " \r\n\t", "the body is empty"),
    ] {
        let refused = client.send_body(Method::POST, path, Body::from(body)).await;
        let detail = refused.problem(400, "bad-request")["detail"].to_string();
        assert!(detail.contains(reason), "{body}: {detail}");
    }
    let cancel = format!("/executions/{id}/cancel");
    let body = Body::from(r#"{"reason":"a","reason":"b"}"#);
    let refused = client.send_body(Method::POST, &cancel, body).await;
    let detail = refused.problem(400, "bad-request")["detail"].to_string();
    assert!(
        detail.contains("the key `reason` is there twice"),
        "{detail}"
    );
    // A list is not taken for an object with its values in this order.
    for (path, body) in [
        (cancel.clone(), r#"["a"]"#),
        (format!("/executions/{id}/copies"), "[0]"),
        (format!("/executions/{id}/links"), "[null, 60]"),
    ] {
        let refused = client
            .send_body(Method::POST, &path, Body::from(body))
            .await;
        let detail = refused.problem(400, "bad-request")["detail"].clone();
        assert_eq!(detail, "the body does not fit: it has to be an object");
    }
    // For JSON, an integer may be written with a point.
    let links = format!("/executions/{id}/links");
    for (seconds, status) in [("60.0", 201), ("6e1", 201), ("60.5", 400), ("-60.0", 400)] {
        let body = Body::from(format!("{{\"expiresInSeconds\": {seconds}}}"));
        let answer = client.send_body(Method::POST, &links, body).await;
        assert_eq!(answer.status.as_u16(), status, "{seconds}: {}", answer.text);
    }
    for body in ["", " \r\n\t"] {
        // It is as no input, which this flow needs.
        let refused = client
            .send_body(Method::POST, &start, Body::from(body))
            .await;
        refused.problem(422, "input");
    }
    client.get(&format!("/questions/{token}")).await.expect(200);
    let large = json!({ "employee": "Ann", "amount": 18_446_744_073_709_551_615_u64 });
    client.post(&start, large).await.expect(201);
}

#[tokio::test]
async fn a_body_that_is_not_json_is_refused() {
    let client = served().client;
    let compressed = client.with_header("content-encoding", "gzip");
    let refused = compressed.post("/flows/Claim/executions", json!({})).await;
    refused.problem(415, "not-json");
    let plain = client.with_header("content-encoding", "Identity");
    let input = json!({ "employee": "Ann", "amount": 30 });
    plain
        .post("/flows/Claim/executions", input)
        .await
        .expect(201);
}

/// Quotes around a key belong to the header, and others to the key.
#[tokio::test]
async fn keys_that_differ_start_executions_that_differ() {
    let client = served().client;
    let started = async |key: &str| {
        let client = client.with_header("idempotency-key", key);
        let input = json!({ "employee": "Ann", "amount": 30 });
        let started = client.post("/flows/Claim/executions", input).await;
        started.expect(201)["id"].clone()
    };
    let plain = started("a").await;
    assert_eq!(started("\"a\"").await, plain);
    for other in ["\"a", "a\"", "\"\"a\"\"", "\""] {
        assert_ne!(started(other).await, plain, "{other}");
    }
}

/// Of texts that no name has, such as those with the character NUL, the server says so.
#[tokio::test]
async fn texts_of_any_kind_do_no_harm() {
    let client = served().client;
    let input = json!({ "employee": "A\0nn", "amount": 30 });
    let id = client.started("Claim", input).await;
    let shown = client.get(&format!("/executions/{id}")).await.expect(200);
    assert_eq!(shown["output"]["receipt"], "30 EUR to A\0nn");
    for path in ["/executions?flow=%00", "/questions?flow=a%00b"] {
        client.get(path).await.expect(200);
    }
    let operator = client.with_token("operator's token");
    let input = || json!({ "employee": "Ann", "amount": 30 });
    let path = "/flows/Claim/executions?owner=%00&concurrencyKey=%00&concurrencyAtMost=1";
    assert_eq!(
        operator.post(path, input()).await.expect(201)["owner"],
        "\0"
    );
    let long = "x".repeat(513);
    for (query, reason) in [
        (
            format!("owner={long}"),
            "the owner has 513 bytes, and can have 512",
        ),
        (
            format!("concurrencyKey={long}&concurrencyAtMost=1"),
            "the concurrency key has 513 bytes, and can have 512",
        ),
    ] {
        let path = format!("/flows/Claim/executions?{query}");
        let refused = operator.post(&path, input()).await;
        assert_eq!(refused.problem(400, "bad-request")["detail"], reason);
    }
    let path = format!("/flows/{long}/executions");
    operator
        .post(&path, input())
        .await
        .problem(400, "bad-request");
    let path = format!("/flows/Claim/executions?owner={}", &long[1..]);
    operator.post(&path, input()).await.expect(201);
}

/// A letter may have several bytes, and no number in the document counts letters.
#[tokio::test]
async fn the_document_counts_names_as_the_server_does() {
    let operator = served().client.with_token("operator's token");
    let input = || json!({ "employee": "Ann", "amount": 30 });
    let named = |letters| format!("/flows/Claim/executions?owner={}", "%C3%B6".repeat(letters));
    operator.post(&named(256), input()).await.expect(201);
    let refused = operator.post(&named(257), input()).await;
    assert_eq!(
        refused.problem(400, "bad-request")["detail"],
        "the owner has 514 bytes, and can have 512"
    );
    let document = operator.get("/openapi.json").await.expect(200);
    let start = &document["paths"]["/flows/{name}/executions"]["post"];
    for name in ["owner", "concurrencyKey"] {
        let parameters = start["parameters"].as_array().unwrap();
        let parameter = parameters.iter().find(|it| it["name"] == name).unwrap();
        assert_eq!(parameter["schema"]["maxLength"], Value::Null, "{name}");
        let said = parameter["description"].as_str().unwrap();
        assert!(said.contains("at most 512 bytes in UTF-8"), "{said}");
    }
}
