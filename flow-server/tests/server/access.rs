//! Who may see what. The routes are those of the OpenAPI document, so that none is forgotten.

use std::collections::HashSet;
use std::sync::Arc;

use axum::http::Method;
use flow_server::Server;
use serde_json::{Value, json};

use crate::support::{Client, runtime, served, tokens};

/// Every route with its method, with these values in its path.
fn routes(id: &str, token: &str) -> Vec<(Method, String)> {
    let api = flow_server::open_api();
    let mut routes = Vec::new();
    for (path, methods) in api["paths"].as_object().unwrap() {
        let path = path
            .replace("{id}", id)
            .replace("{token}", token)
            .replace("{name}", "Claim")
            .replace("{signal}", "CancelRequest")
            .replace("{definition}", "67e55044-10b1-426f-9247-bb680e5fe0c8");
        for method in methods.as_object().unwrap().keys() {
            if let Ok(method) = method.to_uppercase().parse::<Method>() {
                routes.push((method, path.clone()));
            }
        }
    }
    assert!(routes.len() > 20);
    routes
}

/// A body that the route accepts, as far as it goes.
fn body(method: &Method, path: &str) -> Option<Value> {
    let body = match path.rsplit('/').next().unwrap() {
        _ if *method != Method::POST => return None,
        "executions" | "executions?wait=5" => json!({ "employee": "Ann", "amount": 950 }),
        "retry" => return None,
        "cancel" => json!({ "reason": "because" }),
        "copies" => json!({ "seq": 0 }),
        "links" => json!({ "expiresInSeconds": 60 }),
        "answer" => json!({ "Approve": { "comment": "" } }),
        "CancelRequest" => json!({ "reason": "because" }),
        "definitions" | "validate" => json!({ "flow": { "name": "Begun" } }),
        other => panic!("a body for {other}"),
    };
    Some(body)
}

fn is_open(path: &str) -> bool {
    path.starts_with("/health")
}

#[tokio::test]
async fn without_a_token_or_with_a_wrong_one_every_route_is_closed() {
    let client = served().client;
    let (id, token) = client.asking().await;
    let wrong = [
        client.without_token(),
        client.with_token("somebody's token"),
        client.with_token(""),
        client.with_token("ann's toke"),
        client
            .without_token()
            .with_header("authorization", "Basic YW5uOg=="),
        client
            .without_token()
            .with_header("authorization", "ann's token"),
        client
            .without_token()
            .with_header("cookie", "token=ann's token"),
    ];
    // Each from another address: one address is not told the reason so often.
    let mut peers = (0..=u16::MAX).map(|number| {
        let [high, low] = number.to_be_bytes();
        format!("10.0.{high}.{low}:5000")
    });
    for client in wrong {
        for (method, path) in routes(&id, &token) {
            if is_open(&path) {
                continue;
            }
            let client = client.from(&peers.next().unwrap());
            let answer = client
                .send(method.clone(), &path, body(&method, &path))
                .await;
            answer.problem(401, "unauthenticated");
            assert_eq!(answer.headers["www-authenticate"], "Bearer");
        }
    }
    let guessing = client.with_token("a guess").from("10.1.0.0:5000");
    let mut answers = Vec::new();
    for _ in 0..20 {
        answers.push(guessing.get("/flows").await.status.as_u16());
    }
    assert!(
        answers.starts_with(&[401; 10]) && answers.ends_with(&[429; 5]),
        "{answers:?}"
    );
    let execution = client.get(&format!("/executions/{id}")).await.expect(200);
    assert_eq!(execution["status"], "paused");
}

#[tokio::test]
async fn to_another_owner_an_execution_does_not_exist() {
    let client = served().client;
    let (id, token) = client.asking().await;
    let ben = client.with_token("ben's token");
    for (method, path) in routes(&id, &token) {
        if !path.contains(&id) && !path.contains(&token) {
            continue;
        }
        let answer = ben.send(method.clone(), &path, body(&method, &path)).await;
        answer.problem(404, "not-found");
        // As if it had never existed.
        let unknown = "01a00000-0000-7000-8000-000000000000";
        let path_of_none = path.replace(&id, unknown).replace(&token, unknown);
        let none = ben
            .send(method.clone(), &path_of_none, body(&method, &path))
            .await;
        let text = answer.text.replace(&id, unknown).replace(&token, unknown);
        assert_eq!(none.text, text, "{path}");
    }
    for path in ["/executions", "/questions"] {
        let listed = ben.get(path).await.text;
        assert!(
            !listed.contains(&id) && !listed.contains(&token),
            "{listed}"
        );
    }
    let events = ben.get("/events?after=0").await.expect(200);
    assert_eq!(events["events"], json!([]));
    let execution = client.get(&format!("/executions/{id}")).await.expect(200);
    assert_eq!(execution["status"], "paused");
}

#[tokio::test]
async fn the_operator_sees_and_starts_for_all() {
    let served = served();
    let operator = served.client.with_token("operator's token");
    let (id, token) = served.client.asking().await;
    operator.get(&format!("/executions/{id}")).await.expect(200);
    operator
        .get(&format!("/questions/{token}"))
        .await
        .expect(200);
    let input = json!({ "employee": "Ben", "amount": 30 });
    let for_ben = operator
        .post("/flows/Claim/executions?owner=ben", input.clone())
        .await
        .expect(201);
    assert_eq!(for_ben["owner"], "ben");
    let for_none = operator
        .post("/flows/Claim/executions", input.clone())
        .await
        .expect(201);
    assert_eq!(for_none.get("owner"), None);
    let listed = operator.get("/executions").await.expect(200);
    assert_eq!(listed["executions"].as_array().unwrap().len(), 3);
    // An owner cannot start for another one.
    let refused = served
        .client
        .post("/flows/Claim/executions?owner=ben", input)
        .await;
    refused.problem(403, "forbidden");
}

/// What each route answers that does not list questions, as far as it leaves the execution as it is.
async fn answers(client: &Client, id: &str, token: &str) -> Vec<(String, String)> {
    let mut answers = Vec::new();
    for (method, path) in routes(id, token) {
        let is_question = method == Method::GET && path.contains("/questions");
        let ends_it = method == Method::DELETE
            || ["/cancel", "/answer"].iter().any(|end| path.ends_with(end));
        // The flow takes none.
        let is_signal = path.ends_with("/CancelRequest");
        let is_of_definitions = path.starts_with("/definitions") || path == "/catalog";
        if is_question || ends_it || is_signal || is_of_definitions {
            continue;
        }
        let path = match path.rsplit('/').next().unwrap() {
            "events" => format!("{path}?after=0&deltas=true&values=true"),
            "executions" if method == Method::POST => format!("{path}?wait=5"),
            _ => path,
        };
        let answer = client
            .send(method.clone(), &path, body(&method, &path))
            .await;
        assert!(answer.status.is_success(), "{path}: {}", answer.text);
        answers.push((format!("{method} {path}"), answer.text));
        if path.contains("/events") {
            for event in client.streamed(&path).await {
                answers.push((format!("{path}, streamed"), event.data.to_string()));
            }
        }
    }
    answers
}

/// The tokens of all open questions.
async fn open_tokens(client: &Client) -> Vec<String> {
    let listed = client.get("/questions").await.expect(200);
    let questions = listed["questions"].as_array().unwrap();
    let token = |question: &Value| question["token"].as_str().unwrap().to_owned();
    questions.iter().map(token).collect()
}

/// No answer contains the token of a question, but those that list questions.
#[tokio::test]
async fn tokens_of_questions_are_nowhere_else() {
    let served = served();
    let client = served.client.with_token("operator's token");
    let (id, token) = client.asking().await;
    let mut told = answers(&client, &id, &token).await;
    let posted = |kind: &str| {
        let copy = told.iter().find(|(what, _)| what.contains(kind)).unwrap();
        let copy: Value = serde_json::from_str(&copy.1).unwrap();
        copy["id"].as_str().unwrap().to_owned()
    };
    let copy = posted("/copies");
    let copied = client.get(&format!("/executions/{copy}?wait=5")).await;
    assert_eq!(copied.expect(200)["status"], "paused");
    told.push(("the copy".to_owned(), copied.text));
    let tokens = open_tokens(&client).await;
    assert_eq!(
        tokens.len(),
        3,
        "of the execution, the copy and the new one"
    );
    let paused = |(_, text): &&(String, String)| text.contains("paused");
    assert!(told.iter().filter(paused).count() > 5, "{told:#?}");

    let answer = json!({ "Approve": { "comment": "yes" } });
    let path = format!("/questions/{token}/answer");
    let answer = client.post(&path, answer).await;
    answer.expect(200);
    told.push(("the answer".to_owned(), answer.text));
    let settled = client.get(&format!("/executions/{id}?wait=5")).await;
    assert_eq!(settled.expect(200)["status"], "completed");
    let path = format!("/executions/{copy}/cancel");
    let cancelled = client.post(&path, json!({ "reason": "x" })).await;
    cancelled.expect(200);
    told.push((path, cancelled.text));
    let again = routes(&id, &token).into_iter().filter(|(method, path)| {
        *method == Method::GET && path.contains(&id) && !path.contains("/questions")
    });
    let global = "/events?after=0&deltas=true&values=true".to_owned();
    let again: Vec<String> = again.map(|(_, path)| path).chain([global]).collect();
    assert!(again.len() > 4, "{again:?}");
    for path in again {
        let answer = client.get(&path).await;
        assert!(answer.status.is_success(), "{path}: {}", answer.text);
        told.push((path, answer.text));
    }
    for (what, text) in &told {
        for token in &tokens {
            assert!(!text.contains(token), "{what}: {text}");
        }
    }
}

/// Without authentication, only the own machine is let in, and no page of another site.
#[tokio::test]
async fn without_authentication_only_the_own_machine_is_let_in() {
    let router = Server::new(runtime(&Arc::default()).0).router();
    let client = Client::new(router);
    let allowed = [
        client
            .from("127.0.0.1:5000")
            .with_header("host", "localhost:7878"),
        client.from("[::1]:5000").with_header("host", "[::1]:7878"),
        client
            .from("[::ffff:127.0.0.1]:5000")
            .with_header("host", "127.0.0.1"),
        client
            .from("127.0.0.1:5000")
            .with_header("host", "localhost:7878")
            .with_header("origin", "http://localhost:7878")
            .with_header("sec-fetch-site", "same-origin"),
    ];
    for client in allowed {
        client.get("/flows").await.expect(200);
    }
    let local = client.from("127.0.0.1:5000");
    let refused = [
        // Nobody knows where it comes from.
        client.with_header("host", "localhost"),
        // Another machine.
        client
            .from("10.0.0.7:5000")
            .with_header("host", "localhost"),
        // A page whose name was made to lead here.
        local.with_header("host", "example.org"),
        local.clone(),
        // A page of another site.
        local
            .with_header("host", "localhost:7878")
            .with_header("origin", "https://example.org"),
        local
            .with_header("host", "localhost:7878")
            .with_header("origin", "http://localhost:8080"),
        local
            .with_header("host", "localhost:7878")
            .with_header("origin", "null"),
        local
            .with_header("host", "localhost:7878")
            .with_header("sec-fetch-site", "cross-site"),
    ];
    for client in refused {
        let answer = client.get("/flows").await;
        answer.problem(403, "forbidden");
    }
    let started = local
        .with_header("host", "localhost")
        .with_header("sec-fetch-site", "cross-site");
    let input = json!({ "employee": "Ann", "amount": 30 });
    started
        .post("/flows/Claim/executions", input)
        .await
        .problem(403, "forbidden");
}

#[tokio::test]
async fn other_machines_are_not_served_without_authentication() {
    let runtime = runtime(&Arc::default()).0;
    let refused = Server::new(runtime.clone())
        .serve("0.0.0.0:0")
        .await
        .unwrap_err();
    assert!(
        refused.to_string().contains("has no authentication"),
        "{refused}"
    );
    let served = Server::new(runtime)
        .authentication(tokens())
        .serve("0.0.0.0:0");
    let serves = tokio::time::timeout(std::time::Duration::from_millis(50), served).await;
    assert!(serves.is_err(), "it serves");
}

#[test]
fn tokens_are_read_from_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tokens");
    std::fs::write(
        &file,
        "# who\n\noperator 0123456789abcdef\nowner ann abcdef0123456789\n",
    )
    .unwrap();
    let tokens = flow_server::BearerTokens::from_file(&file).unwrap();
    let shown = format!("{tokens:?}");
    assert!(
        shown.contains("ann") && !shown.contains("0123456789"),
        "{shown}"
    );
    for (text, reason) in [
        ("operator", "line 1"),
        ("\nowner ann", "line 2"),
        ("owner ann 0123456789abcdef x", "line 1"),
        ("operator short", "could be guessed"),
    ] {
        std::fs::write(&file, text).unwrap();
        let error = flow_server::BearerTokens::from_file(&file)
            .unwrap_err()
            .to_string();
        assert!(error.contains(reason), "{error}");
    }
    assert!(flow_server::BearerTokens::from_file(folder.path().join("none")).is_err());
}

/// What generators of clients ask of the OpenAPI document.
#[test]
fn every_answer_is_described() {
    let api = flow_server::open_api();
    let mut ids = HashSet::new();
    for (path, methods) in api["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            let id = operation["operationId"].as_str().unwrap();
            assert!(
                ids.insert(id.to_owned()),
                "{method} {path}: {id} is there twice"
            );
            let parameters = operation["parameters"].as_array().into_iter().flatten();
            let named = |place: &str| {
                let at = parameters.clone().filter(|it| it["in"] == place);
                at.map(|it| it["name"].as_str().unwrap())
                    .collect::<HashSet<_>>()
            };
            let parts = path.split('/').filter_map(|part| part.strip_prefix('{'));
            let parts: HashSet<&str> = parts.map(|part| part.trim_end_matches('}')).collect();
            assert_eq!(named("path"), parts, "{method} {path}");
            for (status, answer) in operation["responses"].as_object().unwrap() {
                let description = answer["description"].as_str().unwrap_or_default();
                assert!(!description.is_empty(), "{method} {path} {status}");
            }
        }
    }
}

/// A server that lets in who is on its machine asks for no token, and one below a path says so.
#[tokio::test]
async fn the_description_is_that_of_the_server() {
    let (runtime, _) = runtime(&Arc::default());
    let open = Client::new(Server::new(runtime.clone()).router());
    let api = open.get("/openapi.json").await.expect(200);
    assert_eq!(api["security"], json!([]));
    assert_eq!(
        api["paths"]["/executions/{id}"]["get"]["security"],
        json!([{}, { "link": [] }])
    );
    assert!(api["servers"].is_null());

    let router = Server::new(runtime).authentication(tokens()).router();
    let below = Client::new(axum::Router::new().nest_service("/base", router));
    let api = below.get("/base/openapi.json").await.expect(200);
    assert_eq!(api["security"], json!([{ "bearer": [] }]));
    assert_eq!(api["servers"], json!([{ "url": "/base" }]));
    let statuses = &api["components"]["schemas"]["ProblemView"]["properties"]["executionStatus"];
    assert_eq!(
        statuses["enum"],
        api["components"]["schemas"]["ExecutionView"]["properties"]["status"]["enum"]
    );
}
