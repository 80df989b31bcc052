//! `retry(…, if = …)`: which failures another attempt follows.

use std::future::pending;
use std::time::Duration;

use flow_runtime::prelude::*;
use flow_runtime::testing::Scripted;
use flow_spec::document::FlowDocument;
use serde::{Deserialize, Serialize};
use tokio::time::Instant;

use crate::support::{Calls, Recorder};

/// A status with which a server refuses.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error, Serialize, Deserialize)]
#[error("status {0}")]
struct Status(u16);

impl Status {
    const BUSY: Status = Status(503);
    const UNKNOWN: Status = Status(404);

    fn is_transient(&self) -> bool {
        self.0 >= 500
    }
}

/// The same, for a failure of a node of any type.
fn is_transient(error: &NodeError) -> bool {
    let status = error.downcast_ref::<Status>();
    status.is_some_and(Status::is_transient)
}

/// Returns each of these once, and then a page.
#[derive(Clone, Default, Serialize, Deserialize)]
struct Server {
    refusals: Vec<Status>,
    calls: Calls,
}

impl Server {
    fn refusing(refusals: impl Into<Vec<Status>>) -> Self {
        Server {
            refusals: refusals.into(),
            calls: Calls::default(),
        }
    }

    fn page(&self) -> Result<String, Status> {
        self.calls.note("call");
        match self.refusals.get(self.calls.count() - 1) {
            Some(status) => Err(*status),
            None => Ok("a page".to_owned()),
        }
    }
}

/// The page, or the attempts and the status of the failure; and the number of calls.
fn told<T>(result: Result<T, FlowError>, server: &Server) -> (Option<(u32, Status)>, usize) {
    let failed = result.err().map(|error| {
        let error = error.node_error().expect("the node failed");
        let status = error.downcast_ref::<Status>().expect("a status");
        (error.attempts(), *status)
    });
    (failed, server.calls.count())
}

#[node(retry(attempts = 3, wait = "1s", if = Status::is_transient))]
async fn fetch(server: &Server) -> Result<String, Status> {
    server.page()
}

flow! {
    Fetch(server: Server) -> (fetch: String) {
        start >> fetch >> end;
    }
}

async fn fetched(refusals: impl Into<Vec<Status>>) -> (Option<(u32, Status)>, usize) {
    let server = Server::refusing(refusals);
    let input = FetchInput {
        server: server.clone(),
    };
    told(Fetch::new().run(input).await, &server)
}

#[tokio::test(start_paused = true)]
async fn only_what_the_function_accepts_is_tried_again() {
    let began = Instant::now();
    assert_eq!(fetched([]).await, (None, 1));
    assert_eq!(
        fetched([Status::UNKNOWN]).await,
        (Some((1, Status::UNKNOWN)), 1)
    );
    assert_eq!(began.elapsed(), Duration::ZERO);
    assert_eq!(fetched([Status::BUSY, Status::BUSY]).await, (None, 3));
    assert_eq!(began.elapsed(), Duration::from_secs(2));
    assert_eq!(
        fetched([Status::BUSY, Status::UNKNOWN]).await,
        (Some((2, Status::UNKNOWN)), 2)
    );
    assert_eq!(
        fetched([Status::BUSY; 3]).await,
        (Some((3, Status::BUSY)), 3)
    );
}

#[tokio::test(start_paused = true)]
async fn an_observer_hears_of_a_final_attempt_once() {
    let recorder = Recorder::shared();
    let input = FetchInput {
        server: Server::refusing([Status::BUSY, Status::UNKNOWN]),
    };
    let options = RunOptions::new().observer(recorder.clone());
    Fetch::new().run_with(input, options).await.unwrap_err();
    assert_eq!(
        recorder.events()[1..],
        [
            "fetch.fetch attempt 0 failed: status 503",
            "fetch.fetch attempt 1 failed: status 404",
            "fetch.fetch failed after 2 attempts: status 404",
            "fetch failed: node `fetch.fetch` failed after 2 attempts: status 404",
        ]
    );
}

/// The parameter has the name of the function, which gets a `&str` of the `String`.
fn grumpy(error: &str) -> bool {
    error.contains("later")
}

#[node(blocking, retry(attempts = 3, if = grumpy))]
fn polite(grumpy: u32, calls: &Calls) -> Result<u32, String> {
    calls.note("polite");
    match calls.count() {
        1 => Err("later".to_owned()),
        2 => Err("never".to_owned()),
        _ => Ok(grumpy),
    }
}

flow! {
    Polite(grumpy: u32, calls: Calls) -> (polite: Option<u32>) {
        start >> polite >> end;
        polite - "error" >> end("refused");
    }
}

#[tokio::test]
async fn the_error_edge_follows_a_final_failure() {
    let calls = Calls::default();
    let input = PoliteInput {
        grumpy: 1,
        calls: calls.clone(),
    };
    let output = Polite::new().run(input).await.unwrap();
    assert_eq!((output.end, calls.count()), (PoliteEnd::Refused, 2));
}

trait Source: Send + Sync {
    type Error: std::error::Error + Send + Sync + 'static;

    fn read(&self) -> Result<String, Self::Error>;
}

impl Source for Server {
    type Error = Status;

    fn read(&self) -> Result<String, Status> {
        self.page()
    }
}

struct Read<S>(S);

#[node(writes = text, retry(attempts = 3, if = Self::is_worth_it))]
impl<S: Source> Read<S> {
    fn prep(&self) -> u32 {
        7
    }

    async fn exec(&self, prep_res: &u32) -> Result<String, S::Error> {
        assert_eq!(*prep_res, 7);
        self.0.read()
    }

    fn exec_fallback(&self, cx: &Context, error: &NodeError) -> String {
        format!("nothing after {} of {}", error.attempts(), cx.attempt() + 1)
    }

    fn is_worth_it(error: &S::Error) -> bool {
        error.to_string().ends_with('3')
    }
}

flow! {
    Reads() -> (text: String) {
        node read: Read<Server>;
        start >> read >> end;
    }
}

#[tokio::test]
async fn a_fallback_follows_a_final_failure() {
    for (refusals, text, calls) in [
        (vec![Status::BUSY], "a page", 2),
        (vec![Status::UNKNOWN], "nothing after 1 of 1", 1),
        (
            vec![Status::BUSY, Status::UNKNOWN],
            "nothing after 2 of 2",
            2,
        ),
        (vec![Status::BUSY; 3], "nothing after 3 of 3", 3),
    ] {
        let server = Server::refusing(refusals);
        let flow = Reads::builder().read(Read(server.clone())).build();
        let output = flow.run(ReadsInput {}).await.unwrap();
        assert_eq!((&*output.text, server.calls.count()), (text, calls));
    }
}

/// Takes too long on its first attempt.
#[node(retry(attempts = 3, if = Status::is_transient), timeout = "1s")]
async fn slow(cx: &Context, server: &Server) -> Result<String, Status> {
    match cx.attempt() {
        0 => pending().await,
        _ => server.page(),
    }
}

flow! {
    Slow(server: Server) -> (slow: String) {
        start >> slow >> end;
    }
}

flow! {
    AskedAboutTimeouts(server: Server) -> (slow: String) {
        node slow: slow with retry(attempts = 3, if = is_transient);
        start >> slow >> end;
    }
}

#[tokio::test(start_paused = true)]
async fn an_attempt_after_a_timeout_follows_unless_the_flow_decides() {
    let server = Server::refusing([Status::UNKNOWN]);
    let input = SlowInput {
        server: server.clone(),
    };
    let result = Slow::new().run(input).await;
    assert_eq!(told(result, &server), (Some((2, Status::UNKNOWN)), 1));

    let input = AskedAboutTimeoutsInput { server };
    let error = AskedAboutTimeouts::new().run(input).await.unwrap_err();
    let error = error.node_error().unwrap();
    assert!(error.is_timeout());
    assert_eq!(error.attempts(), 1);
}

flow! {
    WithItsOwn(server: Server) -> (fetch: String) {
        node fetch: fetch with retry(attempts = 5, if = is_transient);
        start >> fetch >> end;
    }
}

flow! {
    WithAny(server: Server) -> (fetch: String) {
        node fetch: fetch with retry(attempts = 2);
        start >> fetch >> end;
    }
}

#[tokio::test(start_paused = true)]
async fn the_retry_of_a_flow_replaces_that_of_the_node_with_its_function() {
    let server = Server::refusing([
        Status::BUSY,
        Status::BUSY,
        Status::BUSY,
        Status::UNKNOWN,
        Status::BUSY,
    ]);
    let input = WithItsOwnInput {
        server: server.clone(),
    };
    let result = WithItsOwn::new().run(input).await;
    assert_eq!(told(result, &server), (Some((4, Status::UNKNOWN)), 4));

    let server = Server::refusing([Status::UNKNOWN]);
    let input = WithAnyInput {
        server: server.clone(),
    };
    assert_eq!(told(WithAny::new().run(input).await, &server), (None, 2));
}

#[node(writes = page)]
fn once(server: &Server) -> Result<String, Status> {
    server.page()
}

flow! {
    Inner(server: Server) -> (page: String) {
        start >> once >> end;
    }
}

flow! {
    Outer(server: Server) -> (page: Option<String>) {
        node inner: Inner with retry(attempts = 3, wait = "1s", if = is_transient);
        start >> inner >> end;
        inner - "error" >> end("refused");
    }
}

#[tokio::test(start_paused = true)]
async fn an_inner_flow_is_tried_again_by_the_error_of_its_node() {
    for (refusals, end, calls, seconds) in [
        (vec![Status::BUSY; 2], OuterEnd::Default, 3, 2),
        (vec![Status::BUSY; 3], OuterEnd::Refused, 3, 2),
        (vec![Status::BUSY, Status::UNKNOWN], OuterEnd::Refused, 2, 1),
        (vec![Status::UNKNOWN], OuterEnd::Refused, 1, 0),
    ] {
        let (server, began) = (Server::refusing(refusals), Instant::now());
        let input = OuterInput {
            server: server.clone(),
        };
        let output = Outer::new().run(input).await.unwrap();
        assert_eq!((output.end, server.calls.count()), (end, calls));
        assert_eq!(began.elapsed().as_secs(), seconds);
    }
}

#[tokio::test]
async fn a_scripted_failure_is_asked_about_as_well() {
    for (status, visits) in [(Status::BUSY, 3), (Status::UNKNOWN, 1)] {
        let scripted = Scripted::new().try_node::<once, _>(move |_| Err(status));
        let input = OuterInput {
            server: Server::default(),
        };
        let run = scripted.run(&Outer::new(), input).await;
        assert_eq!(run.result().unwrap().end, OuterEnd::Refused);
        assert_eq!(run.visits_to("outer.inner.once").count(), visits);
    }
}

/// Fails as the item says, on its first attempt.
#[node]
async fn load(cx: &Context, status: &u16, calls: &Calls) -> Result<u16, Status> {
    calls.note(format!("{status} {}", cx.attempt()));
    match cx.attempt() {
        0 => Err(Status(*status)),
        _ => Ok(*status),
    }
}

flow! {
    Loads(statuses: Vec<u16>, calls: Calls) -> (loads: Vec<Result<u16, NodeError>>) {
        node loads: for status in statuses { load } with retry(attempts = 2, if = is_transient), collect_errors;
        start >> loads >> end;
    }
}

#[tokio::test]
async fn each_item_is_asked_about() {
    let calls = Calls::default();
    let input = LoadsInput {
        statuses: vec![503, 404, 500],
        calls: calls.clone(),
    };
    let output = Loads::new().run(input).await.unwrap();
    let loads: Vec<_> = output.loads.iter().map(|load| load.as_ref().ok()).collect();
    assert_eq!(loads, [Some(&503), None, Some(&500)]);
    assert_eq!(calls.all(), ["503 0", "503 1", "404 0", "500 0", "500 1"]);
}

/// Each time that it asks, it has its attempts.
#[node(poll(every = "1m"), retry(attempts = 3, if = Status::is_transient))]
async fn job(server: &Server) -> Result<Option<u32>, Status> {
    server
        .page()
        .map(|_| (server.calls.count() > 5).then_some(1))
}

flow! {
    Job(server: Server) -> (job: u32) {
        start >> job >> end;
    }
}

#[tokio::test(start_paused = true)]
async fn a_poll_asks_about_each_of_its_failures() {
    let server = Server::refusing([Status::BUSY, Status::BUSY]);
    let input = JobInput {
        server: server.clone(),
    };
    assert_eq!(told(Job::new().run(input).await, &server), (None, 6));

    let server = Server::refusing([Status::BUSY, Status::UNKNOWN]);
    let input = JobInput {
        server: server.clone(),
    };
    let result = Job::new().run(input).await;
    assert_eq!(told(result, &server), (Some((2, Status::UNKNOWN)), 2));
}

#[test]
fn the_flow_says_that_there_is_a_function_and_its_name() {
    fn only_if(spec: &str) -> String {
        let document = FlowDocument::parse_spec(spec).expect("the macro writes a document");
        let retry = document.nodes[0].settings.retry.clone();
        retry.and_then(|retry| retry.only_if).unwrap_or_default()
    }
    assert_eq!(only_if(Fetch::SPEC), "Status::is_transient");
    assert_eq!(only_if(WithItsOwn::SPEC), "is_transient");
    assert_eq!(only_if(WithAny::SPEC), "");
    assert_eq!(only_if(Outer::SPEC), "is_transient");
    assert_eq!(only_if(Loads::SPEC), "is_transient");
}

flow_law::law! {
    nodes: [fetch, polite, slow, once, load, job],
    flows: [
        Loads,
        Outer,
        AskedAboutTimeouts,
        Fetch,
        Polite,
        Slow,
        WithItsOwn,
        WithAny,
        Inner,
        Job,
    ],
    functions: [is_transient],
    types: [Server],
    left_out: [Reads],
}
