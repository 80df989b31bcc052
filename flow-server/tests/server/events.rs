//! Events as they happen.

use std::sync::Arc;
use std::time::Duration;

use flow_durable::{MemoryStore, Runtime};
use flow_runtime::Params;
use flow_runtime::prelude::*;
use flow_server::Server;
use serde_json::{Value, json};

use crate::support::{Client, SentEvent, runtime, served, tokens};

fn types(events: &[SentEvent]) -> Vec<String> {
    events
        .iter()
        .map(|event| event.data["type"].as_str().unwrap().to_owned())
        .collect()
}

#[tokio::test]
async fn a_stream_has_all_events_of_an_execution_and_ends_with_it() {
    let client = served().client;
    let id = client
        .started("Claim", json!({ "employee": "Ann", "amount": 30 }))
        .await;
    let events = client
        .stream(&format!("/executions/{id}/events"))
        .await
        .all()
        .await;
    assert_eq!(
        types(&events),
        [
            "custom",
            "node_start",
            "exec_complete",
            "node_end",
            "node_start",
            "exec_complete",
            "node_end",
            "custom",
            "custom"
        ]
    );
    let seqs: Vec<&Value> = events.iter().map(|event| &event.data["seq"]).collect();
    assert_eq!(
        seqs,
        (0..9)
            .map(Value::from)
            .collect::<Vec<_>>()
            .iter()
            .collect::<Vec<_>>()
    );
    for event in &events {
        assert_eq!(event.id, event.data["offset"].as_u64());
    }
}

/// Whatever event was the last one, the next stream has those after it: none is missed or doubled.
#[tokio::test]
async fn a_stream_continues_after_any_event() {
    let client = served().client;
    let id = client
        .started("Claim", json!({ "employee": "Ann", "amount": 30 }))
        .await;
    let path = format!("/executions/{id}/events");
    let all = client.stream(&path).await.all().await;
    for seen in 0..all.len() - 1 {
        let last = all[seen].id.unwrap().to_string();
        let again = client.with_header("last-event-id", &last);
        let rest = again.stream(&path).await.all().await;
        assert_eq!(rest, all[seen + 1..]);
        let rest = client
            .stream(&format!("{path}?after={last}"))
            .await
            .all()
            .await;
        assert_eq!(rest, all[seen + 1..]);
    }
    // A browser opens a stream again that has ended, unless it is told not to.
    let last = all.last().unwrap().id.unwrap().to_string();
    let client = client.with_header("accept", "text/event-stream");
    let ended = client.with_header("last-event-id", &last).get(&path).await;
    assert_eq!(ended.status.as_u16(), 204);
    let wrong = client.with_header("last-event-id", "x").get(&path).await;
    wrong.problem(400, "bad-request");
}

#[tokio::test]
async fn a_stream_shows_what_happens_while_it_is_open() {
    let served = served();
    let client = &served.client;
    let started = client
        .post("/flows/Pass/executions", json!({ "number": 7 }))
        .await
        .expect(201);
    let id = started["id"].as_str().unwrap();
    let mut watchers = Vec::new();
    for _ in 0..20 {
        watchers.push(client.stream(&format!("/executions/{id}/events")).await);
    }
    for watcher in &mut watchers {
        while watcher.next().await.unwrap().data["type"] != "node_start" {}
        assert!(watcher.is_silent().await);
    }
    served.gate.add_permits(1);
    for mut watcher in watchers {
        let next = watcher.next().await.unwrap();
        assert_eq!(next.data["payload"]["execResult"], 7);
        assert_eq!(watcher.all().await.len(), 3);
    }
    let numbers = client
        .with_token("operator's token")
        .get("/metrics")
        .await
        .text;
    assert!(numbers.contains("flow_event_streams 0"), "{numbers}");
}

#[tokio::test]
async fn deltas_come_before_the_outcome_and_only_if_asked_for() {
    let served = served();
    let client = &served.client;
    let (id, token) = client.asking().await;
    let path = format!("/executions/{id}/events");
    let mut with = client.stream(&format!("{path}?deltas=true")).await;
    let without = client.stream(&path).await;
    while with.next().await.unwrap().data["payload"]["type"] != "paused" {}
    // The one that waits for what happens now.
    assert!(with.is_silent().await);
    let answer = json!({ "Approve": { "comment": "" } });
    client
        .post(&format!("/questions/{token}/answer"), answer)
        .await
        .expect(200);
    let rest = with.all().await;
    let chunks: Vec<_> = rest
        .iter()
        .filter(|event| event.data["type"] == "stream_chunk")
        .collect();
    assert_eq!(chunks.len(), 2);
    assert_eq!(chunks[0].data["payload"]["chunk"], "pay");
    assert_eq!(chunks[1].id, None);
    let at = |r#type: &str| types(&rest).iter().rposition(|it| it == r#type);
    assert!(at("stream_chunk") < at("exec_complete"));
    assert!(!types(&without.all().await).contains(&"stream_chunk".to_owned()));
}

#[tokio::test]
async fn a_stream_is_filtered_by_kind_and_path() {
    let client = served().client;
    let id = client
        .started("Claim", json!({ "employee": "Ann", "amount": 30 }))
        .await;
    let path = format!("/executions/{id}/events");
    let of = async |query: &str| {
        let events = client.stream(&format!("{path}?{query}")).await.all().await;
        types(&events)
    };
    assert_eq!(of("kind=outcome").await, ["exec_complete", "exec_complete"]);
    assert_eq!(of("kind=outcome&path=claim.pay").await, ["exec_complete"]);
    assert_eq!(
        of("path=claim.pay,claim.measure&kind=node_started,outcome")
            .await
            .len(),
        4
    );
    assert_eq!(of("path=other.*").await.len(), 0);
    for query in [
        "kind=outcom",
        "path=a..b",
        "after=-1",
        "deltas=perhaps",
        "follow=1",
    ] {
        let refused = client.get(&format!("{path}?{query}")).await;
        refused.problem(400, "bad-request");
    }
}

/// What nodes read and wrote is told to those who ask for it, whether it was stored before or happens
/// while they watch, and not to those beside them who do not (B-109).
#[tokio::test]
async fn values_come_only_if_asked_for() {
    let served = served();
    let client = &served.client;
    let (id, token) = client.asking().await;
    let path = format!("/executions/{id}/events");
    let mut with = client.stream(&format!("{path}?values=true")).await;
    let mut without = client.stream(&path).await;
    let measured = loop {
        let event = with.next().await.unwrap().data;
        if event["nodeId"] == "measure" && event["type"] == "node_start" {
            break event["payload"]["reads"].clone();
        }
    };
    let amount = json!([{ "key": "amount", "value": { "summary": "950" } }]);
    assert_eq!(measured, amount);
    while without.next().await.unwrap().data["payload"]["type"] != "paused" {}
    while with.next().await.unwrap().data["payload"]["type"] != "paused" {}
    assert!(with.is_silent().await && without.is_silent().await);
    let answer = json!({ "Approve": { "comment": "" } });
    client
        .post(&format!("/questions/{token}/answer"), answer)
        .await
        .expect(200);
    let paid = json!([{ "key": "receipt", "value": { "summary": "\"950 EUR to Ann\"" } }]);
    let writes_of = |events: &[Value]| {
        let ended = |event: &&Value| event["nodeId"] == "pay" && event["type"] == "node_end";
        events.iter().find(ended).unwrap()["payload"]["writes"].clone()
    };
    let data = |events: Vec<SentEvent>| -> Vec<Value> {
        events.into_iter().map(|event| event.data).collect()
    };
    assert_eq!(writes_of(&data(with.all().await)), paid);
    assert_eq!(writes_of(&data(without.all().await)), Value::Null);
    let page = client.get(&format!("{path}?values=true")).await.expect(200);
    assert_eq!(writes_of(page["events"].as_array().unwrap()), paid);
    let all = client.get("/events?values=true&after=0").await.expect(200);
    assert_eq!(writes_of(all["events"].as_array().unwrap()), paid);
    let all = client.get("/events?after=0").await.expect(200);
    assert_eq!(writes_of(all["events"].as_array().unwrap()), Value::Null);
    // Values are those of somebody.
    let ben = client.with_token("ben's token");
    for accept in ["application/json", "text/event-stream"] {
        let ben = ben.with_header("accept", accept);
        ben.get(&format!("{path}?values=true"))
            .await
            .problem(404, "not-found");
    }
    let bens = ben.get("/events?values=true&after=0").await.expect(200);
    assert_eq!(bens["events"], json!([]));
    let document = client.get("/openapi.json").await.expect(200);
    for route in ["/events", "/executions/{id}/events"] {
        let parameters = document["paths"][route]["get"]["parameters"].as_array();
        let values = |it: &Value| it["name"] == "values" && it["in"] == "query";
        assert!(parameters.unwrap().iter().any(values), "{route}");
    }
}

/// Multiplies, and has a secret.
#[derive(Params)]
struct Times {
    factor: u64,
    #[param(secret)]
    key: &'static str,
}

#[node(writes = product)]
impl Times {
    fn exec(&self, number: u64) -> u64 {
        number * self.factor * self.key.len() as u64
    }
}

flow! {
    Product(number: u64) -> (product: u64) {
        node times: Times;
        start >> times >> end;
    }
}

/// The settings of a compiled flow are told with the values, without secrets (B-073).
#[tokio::test]
async fn settings_come_with_the_values() {
    let runtime = Runtime::new(MemoryStore::new());
    let times = Times {
        factor: 2,
        key: "k",
    };
    let flow = Product::builder().times(times).build();
    runtime.register(flow).unwrap();
    let server = Server::new(runtime).authentication(tokens());
    let client = Client::new(server.router()).with_token("ann's token");
    let id = client.started("Product", json!({ "number": 7 })).await;
    let path = format!("/executions/{id}/events?values=true");
    let events = client.get(&path).await.expect(200);
    let reached = &events["events"][1]["payload"];
    assert_eq!(reached["params"], json!({ "factor": 2, "key": "***" }));
    let without = client.get(&format!("/executions/{id}/events")).await;
    let without = without.expect(200);
    assert_eq!(without["events"][1]["payload"].get("params"), None);
}

/// For those who cannot have a stream.
#[tokio::test]
async fn events_come_in_pages_too() {
    let served = served();
    let client = &served.client;
    let started = client
        .post("/flows/Pass/executions", json!({ "number": 7 }))
        .await
        .expect(201);
    let path = format!("/executions/{}/events", started["id"].as_str().unwrap());
    let mut seen: Vec<Value> = Vec::new();
    let mut next = 0;
    while seen.iter().all(|event| event["type"] != "node_start") {
        let page = client
            .get(&format!("{path}?after={next}&wait=5"))
            .await
            .expect(200);
        seen.extend(page["events"].as_array().unwrap().clone());
        next = page["next"].as_u64().unwrap();
        assert_eq!(page["over"], false);
    }
    let nothing = client
        .get(&format!("{path}?after={next}"))
        .await
        .expect(200);
    assert_eq!(
        (&nothing["events"], nothing["next"].as_u64()),
        (&json!([]), Some(next))
    );
    let following = format!("{path}?after={next}&wait=5");
    let waits = client.get(&following);
    let goes_on = async {
        tokio::time::sleep(Duration::from_millis(50)).await;
        served.gate.add_permits(1);
    };
    let (page, ()) = tokio::join!(waits, goes_on);
    let mut page = page.expect(200);
    seen.extend(page["events"].as_array().unwrap().clone());
    while page["over"] == false {
        let next = page["next"].as_u64().unwrap();
        page = client
            .get(&format!("{path}?after={next}&wait=5"))
            .await
            .expect(200);
        seen.extend(page["events"].as_array().unwrap().clone());
    }
    let seqs: Vec<u64> = seen
        .iter()
        .map(|event| event["seq"].as_u64().unwrap())
        .collect();
    assert_eq!(seqs, (0..seen.len() as u64).collect::<Vec<_>>());
}

#[tokio::test]
async fn the_events_of_all_executions_are_one_stream() {
    let served = served();
    let client = &served.client;
    let mut anns = client.stream("/events?kind=run_completed").await;
    let mut bens = client.with_token("ben's token").stream("/events").await;
    let mut everyones = client
        .with_token("operator's token")
        .stream("/events?kind=run_completed")
        .await;
    let id = client
        .started("Claim", json!({ "employee": "Ann", "amount": 30 }))
        .await;
    assert_eq!(anns.next().await.unwrap().data["runId"], id.as_str());
    let seen = everyones.next().await.unwrap();
    assert_eq!(seen.data["runId"], id.as_str());
    assert!(bens.is_silent().await);
    let second = client
        .started("Claim", json!({ "employee": "Ann", "amount": 40 }))
        .await;
    let offset = seen.id.unwrap().to_string();
    let again = client.with_header("last-event-id", &offset);
    let mut again = again.stream("/events?kind=run_completed").await;
    assert_eq!(again.next().await.unwrap().data["runId"], second.as_str());
}

/// A client that reads nothing for a while has missed nothing afterwards, and holds up nobody.
#[tokio::test]
async fn a_slow_client_misses_no_record_and_holds_up_nobody() {
    let served = served();
    let client = &served.client;
    let input = json!({ "counted": 0, "until": 2000 });
    let started = client
        .post("/flows/Counting/executions", input)
        .await
        .expect(201);
    let id = started["id"].as_str().unwrap();
    let path = format!("/executions/{id}/events");
    let mut slow = client.stream(&path).await;
    let first = slow.next().await.unwrap();
    let quick = client.stream(&path).await.all().await;
    assert!(quick.len() > 6000, "{}", quick.len());
    let mut all = vec![first];
    all.extend(slow.all().await);
    assert_eq!(all, quick);
    let seqs: Vec<u64> = quick
        .iter()
        .map(|event| event.data["seq"].as_u64().unwrap())
        .collect();
    assert_eq!(seqs, (0..quick.len() as u64).collect::<Vec<_>>());
}

/// Another process serves the same store: a client that was cut off goes on there.
#[tokio::test]
async fn a_stream_goes_on_at_another_server() {
    let store = Arc::default();
    let (first, _) = runtime(&store);
    let client = |runtime| {
        let server = Server::new(runtime).authentication(tokens());
        Client::new(server.router()).with_token("ann's token")
    };
    let before = client(first.clone());
    let started = before
        .post("/flows/Pass/executions", json!({ "number": 7 }))
        .await
        .expect(201);
    let path = format!("/executions/{}/events", started["id"].as_str().unwrap());
    let mut stream = before.stream(&path).await;
    let mut all = Vec::new();
    while all
        .last()
        .is_none_or(|event: &SentEvent| event.data["type"] != "node_start")
    {
        all.push(stream.next().await.unwrap());
    }
    first.shut_down().await;
    drop(stream);
    let (second, gate) = runtime(&store);
    second.recover().await.unwrap();
    gate.add_permits(1);
    let last = all.last().unwrap().id.unwrap().to_string();
    let after = client(second).with_header("last-event-id", &last);
    all.extend(after.stream(&path).await.all().await);
    let seqs: Vec<u64> = all
        .iter()
        .map(|event| event.data["seq"].as_u64().unwrap())
        .collect();
    assert_eq!(seqs, (0..all.len() as u64).collect::<Vec<_>>());
    assert_eq!(all.last().unwrap().data["payload"]["type"], "run_completed");
}

/// A quiet stream says that it is still there.
#[tokio::test(start_paused = true)]
async fn a_quiet_stream_has_heartbeats() {
    use axum::body::Body;
    use axum::http::Request;
    use http_body_util::BodyExt as _;
    use tower::ServiceExt as _;

    let (runtime, _) = runtime(&Arc::default());
    let router = Server::new(runtime).authentication(tokens()).router();
    let request = Request::get("/events")
        .header("authorization", "Bearer ann's token")
        .header("accept", "text/event-stream")
        .body(Body::empty())
        .unwrap();
    let mut body = router.oneshot(request).await.unwrap().into_body();
    let began = tokio::time::Instant::now();
    let beat = body.frame().await.unwrap().unwrap().into_data().unwrap();
    assert_eq!(&beat[..], b":\n\n");
    assert_eq!(began.elapsed().as_secs(), 15);
}

/// When an execution is removed, its stream ends.
#[tokio::test]
async fn a_stream_ends_when_its_execution_is_removed() {
    let served = served();
    let client = &served.client;
    let started = client
        .post("/flows/Pass/executions", json!({ "number": 7 }))
        .await
        .expect(201);
    let id = started["id"].as_str().unwrap();
    let mut stream = client.stream(&format!("/executions/{id}/events")).await;
    while stream.next().await.unwrap().data["type"] != "node_start" {}
    assert!(stream.is_silent().await);
    client
        .send(
            axum::http::Method::DELETE,
            &format!("/executions/{id}"),
            None,
        )
        .await;
    let rest = tokio::time::timeout(Duration::from_secs(60), stream.all())
        .await
        .unwrap();
    assert!(rest.len() <= 1, "{rest:?}");
}
