//! What each route does.

use axum::http::{Method, header};
use serde_json::{Value, json};

use crate::support::{Client, served};

#[tokio::test]
async fn flows_are_listed_with_the_schemas_of_their_inputs() {
    let client = served().client;
    let flows = client.get("/flows").await.expect(200)["flows"].clone();
    let names: Vec<&Value> = flows
        .as_array()
        .unwrap()
        .iter()
        .map(|flow| &flow["name"])
        .collect();
    assert_eq!(names, ["Claim", "Counting", "Failing", "Pass"]);
    assert_eq!(flows[0]["description"], "Pays expenses.");
    assert_eq!(
        flows[0]["inputs"]["required"],
        json!(["employee", "amount"])
    );

    let flow = client.get("/flows/Claim").await.expect(200);
    assert_eq!(flow["namespace"], "claim");
    assert_eq!(flow["nodes"][0]["id"], "measure");
    let picture = client.get("/flows/Claim/picture.svg").await;
    assert_eq!(picture.headers[header::CONTENT_TYPE], "image/svg+xml");
    assert!(picture.text.starts_with("<svg") && picture.text.contains("measure"));

    for path in ["/flows/Nothing", "/flows/Nothing/picture.svg"] {
        client.get(path).await.problem(404, "not-found");
    }
    client
        .post("/flows/Nothing/executions", json!({}))
        .await
        .problem(404, "not-found");
}

#[tokio::test]
async fn an_execution_is_started_and_waited_for() {
    let client = served().client;
    let input = json!({ "employee": "Ann", "amount": 30 });
    let answer = client.post("/flows/Claim/executions?wait=5", input).await;
    let execution = answer.expect(201);
    assert_eq!(execution["status"], "completed");
    assert_eq!(execution["owner"], "ann");
    assert_eq!(
        execution["output"],
        json!({ "receipt": "30 EUR to Ann", "end": "default" })
    );
    let location = answer.headers[header::LOCATION].to_str().unwrap();
    assert_eq!(
        location,
        format!("/executions/{}", execution["id"].as_str().unwrap())
    );
    assert_eq!(client.get(location).await.expect(200), execution);
}

/// As people type it: in the address of a page, for instance.
#[tokio::test]
async fn the_first_digits_of_an_id_are_enough() {
    let client = served().client;
    let (id, _) = client.asking().await;
    for digits in [&id[..4], &id[..8], &id[..9], &id[..35]] {
        for part in [
            "",
            "/journal",
            "/structure",
            "/questions",
            "/state",
            "/events",
        ] {
            let whole = client.get(&format!("/executions/{id}{part}")).await;
            let answer = client.get(&format!("/executions/{digits}{part}")).await;
            assert_eq!(answer.expect(200), whole.expect(200), "{digits}{part}");
        }
    }
    let upper = format!("/executions/{}", id[..8].to_uppercase());
    assert_eq!(client.get(&upper).await.expect(200)["id"], id.as_str());
    for unknown in ["0000", &id[..3], "banana", "%20"] {
        let answer = client.get(&format!("/executions/{unknown}")).await;
        answer.problem(404, "not-found");
    }
    let path = format!("/executions/{}", &id[..8]);
    let ben = client.with_token("ben's token");
    let problem = ben.get(&path).await.problem(404, "not-found");
    let detail = format!(
        "there is no execution `{}`: write an id, or at least its first 4 digits",
        &id[..8]
    );
    assert_eq!(problem["detail"], detail);
    let body = json!({ "expiresInSeconds": 60 });
    let made = client
        .post(&format!("{path}/links"), body)
        .await
        .expect(201);
    let guest = client
        .without_token()
        .with_token(made["link"].as_str().unwrap());
    guest.get(&format!("/executions/{id}")).await.expect(200);
    guest.get(&path).await.problem(404, "not-found");

    let (other, _) = client.asking().await;
    let four = format!("/executions/{}", &id[..4]);
    let problem = client
        .send(Method::DELETE, &four, None)
        .await
        .problem(409, "ambiguous-id");
    assert_eq!(problem["executions"], json!([other, id]));
    let lines = format!("begin with `{}`:\n  {other}\n  {id}", &id[..4]);
    assert!(
        problem["detail"].as_str().unwrap().ends_with(&lines),
        "{problem}"
    );
    let listed = client.get("/executions").await.expect(200);
    assert_eq!(listed["executions"].as_array().unwrap().len(), 2);
    let cancel = format!("/executions/{}/cancel", &other[..35]);
    let cancelled = client
        .post(&cancel, json!({ "reason": "no" }))
        .await
        .expect(200);
    assert_eq!(
        (&cancelled["id"], &cancelled["status"]),
        (&json!(other), &json!("cancelled"))
    );
    let whole = format!("/executions/{other}");
    let removed = client.send(Method::DELETE, &whole, None).await;
    assert_eq!(removed.status.as_u16(), 204);
    client.get(&four).await.expect(200);
}

#[tokio::test]
async fn a_nested_router_says_where_its_executions_are() {
    let router = flow_server::Server::new(crate::support::runtime(&Default::default()).0)
        .authentication(crate::support::tokens())
        .router();
    let nested = axum::Router::new().nest("/api/flows", router);
    let client = Client::new(nested).with_token("ann's token");
    let input = json!({ "employee": "Ann", "amount": 30 });
    let answer = client
        .post("/api/flows/flows/Claim/executions", input)
        .await;
    answer.expect(201);
    let location = answer.headers[header::LOCATION].to_str().unwrap();
    assert!(location.starts_with("/api/flows/executions/"), "{location}");
    client.get(location).await.expect(200);
}

/// Case BP-18: everything that is wrong with an input.
#[tokio::test]
async fn an_input_that_does_not_fit_is_refused_with_everything_that_is_wrong() {
    let client = served().client;
    let input = json!({ "employee": 3, "amont": 950 });
    let answer = client.post("/flows/Claim/executions", input).await;
    let problem = answer.problem(422, "input");
    let errors = problem["errors"].as_array().unwrap();
    let found: Vec<_> = errors
        .iter()
        .map(|error| (&error["code"], &error["pointer"]))
        .collect();
    assert_eq!(found.len(), 3, "{found:?}");
    for (code, pointer) in [
        ("input.wrong_type", "/employee"),
        ("input.missing", "/amount"),
        ("input.unexpected", "/amont"),
    ] {
        assert!(
            found.contains(&(&json!(code), &json!(pointer))),
            "{found:?}"
        );
    }
    assert_eq!(
        client.get("/executions").await.expect(200)["executions"],
        json!([])
    );
}

#[tokio::test]
async fn a_repeated_start_returns_the_first_execution() {
    let client = served().client;
    let keyed = client.with_header("idempotency-key", "request 17");
    let input = |amount: u64| json!({ "employee": "Ann", "amount": amount });
    let first = keyed
        .post("/flows/Claim/executions", input(30))
        .await
        .expect(201);
    let again = keyed
        .post("/flows/Claim/executions", input(30))
        .await
        .expect(201);
    assert_eq!(first["id"], again["id"]);
    assert_eq!(first["idempotencyKey"], "request 17");
    let other = keyed.post("/flows/Claim/executions", input(31)).await;
    assert_eq!(
        other.problem(422, "idempotency-key")["execution"],
        first["id"]
    );
    let empty = client.with_header("idempotency-key", "");
    let refused = empty.post("/flows/Claim/executions", input(30)).await;
    refused.problem(400, "bad-request");
}

#[tokio::test]
async fn executions_are_listed_in_pages_and_by_filter() {
    let client = served().client;
    let mut ids = Vec::new();
    for number in 0..5 {
        let input = json!({ "employee": "Ann", "amount": number * 50 });
        ids.push(client.started("Claim", input).await);
    }
    let failed = client.started("Failing", json!({ "text": "x" })).await;
    ids.push(failed.clone());
    // Of the same millisecond, ids are in no order.
    ids.sort();
    ids.reverse();

    let mut listed = Vec::new();
    let mut before = String::new();
    loop {
        let page = client
            .get(&format!("/executions?limit=4{before}"))
            .await
            .expect(200);
        let executions = page["executions"].as_array().unwrap();
        assert!(executions.len() <= 4);
        listed.extend(
            executions
                .iter()
                .map(|it| it["id"].as_str().unwrap().to_owned()),
        );
        assert!(executions.iter().all(|it| it.get("output").is_none()));
        let Some(next) = page["next"].as_str() else {
            break;
        };
        before = format!("&before={next}");
    }
    assert_eq!(listed, ids);

    let of = async |query: &str| {
        let page = client
            .get(&format!("/executions?{query}"))
            .await
            .expect(200);
        page["executions"].as_array().unwrap().len()
    };
    assert_eq!(of("flow=Failing").await, 1);
    assert_eq!(of("status=failed").await, 1);
    assert_eq!(of("status=paused").await, 2);
    assert_eq!(of("flow=Failing&status=completed").await, 0);
    assert_eq!(of("startedFromMs=0").await, 6);
    assert_eq!(of("startedBeforeMs=0").await, 0);
    for query in [
        "status=gone",
        "limit=0",
        "limit=1001",
        "before=x",
        "sort=1",
        "startedFromMs=-1",
    ] {
        let refused = client.get(&format!("/executions?{query}")).await;
        refused.problem(400, "bad-request");
    }
    let reason = client
        .get(&format!("/executions/{failed}"))
        .await
        .expect(200);
    assert!(reason["reason"].as_str().unwrap().contains("invalid digit"));
}

#[tokio::test]
async fn a_question_is_listed_refused_answered_and_then_closed() {
    let client = served().client;
    let (id, token) = client.asking().await;
    let questions = client.get("/questions").await.expect(200)["questions"].clone();
    assert_eq!(questions[0]["prompt"], "Approve 950 EUR for Ann?");
    assert_eq!(questions[0]["execution"], id.as_str());
    assert!(questions[0]["schema"]["oneOf"].is_array());
    assert!(questions[0]["expiresAtMs"].as_u64() > questions[0]["askedAtMs"].as_u64());
    let question = client.get(&format!("/questions/{token}")).await.expect(200);
    assert_eq!(question, questions[0]);

    let path = format!("/questions/{token}/answer");
    let refused = client.post(&path, json!({ "Aprove": {} })).await;
    assert_eq!(refused.problem(422, "wrong-type")["expected"], "Decision");
    let answer = json!({ "Approve": { "comment": "have fun" } });
    client.post(&path, answer.clone()).await.expect(200);
    let execution = client
        .get(&format!("/executions/{id}?wait=5"))
        .await
        .expect(200);
    assert_eq!(execution["output"]["receipt"], "950 EUR to Ann");

    client.post(&path, answer).await.problem(409, "over");
    client
        .get(&format!("/questions/{token}"))
        .await
        .problem(409, "over");
    assert_eq!(
        client.get("/questions").await.expect(200)["questions"],
        json!([])
    );
}

#[tokio::test]
async fn an_execution_is_looked_back_at() {
    let client = served().client;
    let id = client
        .started("Counting", json!({ "counted": 0, "until": 40 }))
        .await;
    let path = format!("/executions/{id}");
    let count = client.get(&path).await.expect(200)["records"]
        .as_u64()
        .unwrap();
    let mut records = Vec::new();
    let mut from = json!(0);
    loop {
        let page = client
            .get(&format!("{path}/journal?limit=50&from={from}"))
            .await
            .expect(200);
        records.extend(page["records"].as_array().unwrap().clone());
        match page.get("next") {
            Some(next) => from = next.clone(),
            None => break,
        }
    }
    assert_eq!(records.len() as u64, count);
    for (seq, record) in records.iter().enumerate() {
        assert_eq!(record["seq"], seq);
    }
    let outcomes: Vec<&Value> = records
        .iter()
        .filter(|it| it["kind"] == "outcome")
        .collect();
    assert_eq!(outcomes.len(), 40);
    let tenth = outcomes[9]["seq"].as_u64().unwrap();
    let state = client
        .get(&format!("{path}/state?seq={tenth}"))
        .await
        .expect(200);
    assert_eq!(
        state["flows"]["counting"],
        json!({ "counted": 10, "until": 40 })
    );
    let last = client.get(&format!("{path}/state")).await.expect(200);
    assert_eq!(last["seq"].as_u64(), Some(count - 1));
    let writes = client
        .get(&format!("{path}/writes?seq={tenth}"))
        .await
        .expect(200);
    let writes = writes["writes"].as_array().unwrap();
    let newest = writes
        .iter()
        .rev()
        .find(|write| write["key"] == "counted")
        .unwrap();
    assert_eq!(newest["writer"]["path"], "counting.count");
    let structure = client.get(&format!("{path}/structure")).await.expect(200);
    assert_eq!(structure["name"], "Counting");
    let picture = client.get(&format!("{path}/picture.svg")).await;
    assert!(picture.text.starts_with("<svg"));
    for refused in [
        format!("{path}/state?seq=100000"),
        format!("{path}/writes?seq=100000"),
    ] {
        client.get(&refused).await.problem(404, "not-found");
    }
    client
        .get(&format!("{path}/journal?limit=0"))
        .await
        .problem(400, "bad-request");
}

#[tokio::test]
async fn an_execution_is_copied_with_another_value() {
    let client = served().client;
    let (id, _) = client.asking().await;
    let path = format!("/executions/{id}/copies");
    let wrong = json!({ "seq": 3, "values": { "amount": "much", "colour": 1 } });
    let problem = client.post(&path, wrong).await.problem(422, "values");
    assert_eq!(problem["errors"].as_array().unwrap().len(), 2, "{problem}");
    let copy = client
        .post(&path, json!({ "seq": 0, "values": { "amount": 70 } }))
        .await;
    let copy = copy.expect(201);
    assert_eq!(copy["copiedFrom"], id.as_str());
    let copy = copy["id"].as_str().unwrap();
    let copied = client
        .get(&format!("/executions/{copy}?wait=5"))
        .await
        .expect(200);
    assert_eq!(copied["output"]["receipt"], "70 EUR to Ann");
    let copies = client
        .get(&format!("/executions?copiesOf={id}"))
        .await
        .expect(200);
    assert_eq!(copies["executions"][0]["id"], copy);
    let original = client.get(&format!("/executions/{id}")).await.expect(200);
    assert_eq!(original["status"], "paused");
    client
        .post(&path, json!({ "seq": 900 }))
        .await
        .problem(404, "not-found");
}

#[tokio::test]
async fn an_execution_is_cancelled_and_removed() {
    let client = served().client;
    let (id, token) = client.asking().await;
    let path = format!("/executions/{id}");
    let cancel = format!("{path}/cancel");
    client
        .post(&cancel, json!({}))
        .await
        .problem(400, "bad-request");
    let cancelled = client
        .post(&cancel, json!({ "reason": "not needed" }))
        .await
        .expect(200);
    assert_eq!(
        (&cancelled["status"], &cancelled["reason"]),
        (&json!("cancelled"), &json!("not needed"))
    );
    let again = client.post(&cancel, json!({ "reason": "x" })).await;
    assert_eq!(again.problem(409, "over")["executionStatus"], "cancelled");
    let answer = json!({ "Approve": { "comment": "" } });
    client
        .post(&format!("/questions/{token}/answer"), answer)
        .await
        .problem(409, "over");
    let removed = client.send(Method::DELETE, &path, None).await;
    assert_eq!((removed.status.as_u16(), removed.text.as_str()), (204, ""));
    client.get(&path).await.problem(404, "not-found");
    client
        .send(Method::DELETE, &path, None)
        .await
        .problem(404, "not-found");
}

#[tokio::test]
async fn what_is_nowhere_is_a_problem_too() {
    let client = served().client;
    client.get("/nothing").await.problem(404, "not-found");
    client.get("/executions/17").await.problem(404, "not-found");
    client.get("/questions/17").await.problem(404, "not-found");
    client
        .send(Method::PUT, "/flows", None)
        .await
        .problem(405, "wrong-method");
    let text = client
        .send_body(Method::POST, "/flows/Claim/executions", "{".into())
        .await;
    text.problem(400, "bad-request");
    let form = client.with_header("content-type", "text/plain");
    let form = form.post("/flows/Claim/executions", json!({})).await;
    assert!(form.status.is_client_error());
}

#[tokio::test]
async fn the_operator_sees_health_and_numbers() {
    let client = served().client;
    client
        .started("Claim", json!({ "employee": "Ann", "amount": 30 }))
        .await;
    for path in ["/health", "/health/ready"] {
        let healthy = client.without_token().get(path).await;
        assert_eq!(healthy.expect(200), json!({ "status": "ok" }));
    }
    client.get("/metrics").await.problem(403, "forbidden");
    let numbers = client
        .with_token("operator's token")
        .get("/metrics")
        .await
        .text;
    for line in [
        "flow_executions_started_total{flow=\"Claim\"} 1",
        "flow_http_requests_total{method=\"POST\",route=\"/flows/{name}/executions\",status=\"201\"} 1",
        "flow_executions_refused 0",
        "flow_event_streams 0",
    ] {
        assert!(numbers.contains(line), "{line} in:\n{numbers}");
    }
}

/// What an execution says of its place in the queue is stored, and shown.
#[tokio::test]
async fn a_start_says_when_the_execution_may_begin() {
    let served = served();
    let operator = served.client.with_token("operator's token");
    let start = async |client: &Client, more: &str| {
        let path = format!("/flows/Counting/executions?owner=ann{more}");
        client
            .post(&path, json!({ "counted": 0, "until": 1 }))
            .await
    };
    let later = "&priority=-5&notBeforeMs=4102444800000&concurrencyKey=a%20b&concurrencyAtMost=2";
    let execution = start(&operator, later).await.expect(201);
    let id = execution["id"].as_str().unwrap();
    let shown = served.client.get(&format!("/executions/{id}")).await;
    for view in [&execution, &shown.expect(200)] {
        assert_eq!(view["status"], "queued");
        assert_eq!(view["priority"], -5);
        assert_eq!(view["notBeforeMs"], 4_102_444_800_000_u64);
        assert_eq!(view["concurrencyKey"], "a b");
        assert_eq!(view["concurrencyAtMost"], 2);
    }
    let plain = start(&operator, "").await.expect(201);
    for field in [
        "priority",
        "notBeforeMs",
        "concurrencyKey",
        "concurrencyAtMost",
    ] {
        assert_eq!(plain[field], Value::Null, "{field}");
    }

    for wrong in [
        "&concurrencyKey=a",
        "&concurrencyAtMost=2",
        "&concurrencyKey=a&concurrencyAtMost=0",
        "&priority=high",
        "&notBeforeMs=18446744073709551615",
    ] {
        let refused = start(&operator, wrong).await;
        refused.problem(400, "bad-request");
    }
    // Owners cannot hold up each other.
    for theirs in ["&priority=1", "&concurrencyKey=a&concurrencyAtMost=2"] {
        let refused = start(&served.client, theirs).await;
        refused.problem(403, "forbidden");
    }
    let own = start(&served.client, "&notBeforeMs=4102444800000").await;
    assert_eq!(own.expect(201)["status"], "queued");
}
