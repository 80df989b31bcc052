//! Models that are not asked more often than their providers allow.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use flow_agents::{
    Chunk, Limited, Message, Messages, Model, ModelError, Reply, ReplyStream, Request, Retrying,
    ScriptedModel, Stop, Usage,
};
use flow_runtime::prelude::*;
use futures_util::StreamExt as _;
use futures_util::future::join_all;
use futures_util::stream;
use proptest::prelude::*;
use tokio::time::{Instant, sleep};

/// A request that is known by its name. A name of up to 4 characters is sent as a token.
fn request(name: &str, max_tokens: u32) -> Request {
    let mut request = Request::new(&Messages::new());
    request.messages = Messages::from_iter([Message::user(name)]);
    request.max_tokens = Some(max_tokens);
    request
}

/// A request as the provider sees it: when it began and ended, and what it used.
#[derive(Debug, Clone, PartialEq)]
struct Seen {
    name: String,
    begun: Duration,
    ended: Duration,
    tokens: u64,
}

/// A model that takes a while, and writes down what it is asked. It uses what the request allows.
struct Provider {
    began: Instant,
    takes: Duration,
    seen: Mutex<Vec<Seen>>,
}

impl Provider {
    fn new(takes: u64) -> Provider {
        Provider {
            began: Instant::now(),
            takes: Duration::from_secs(takes),
            seen: Mutex::default(),
        }
    }

    fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }

    /// The seconds at which requests began, in the order in which they did.
    fn begun(&self) -> Vec<u64> {
        let mut begun: Vec<_> = self.seen().iter().map(|it| it.begun.as_secs()).collect();
        begun.sort_unstable();
        begun
    }
}

#[async_trait]
impl Model for Provider {
    async fn complete(&self, request: &Request) -> Result<Reply, ModelError> {
        let begun = self.began.elapsed();
        sleep(self.takes).await;
        let tokens = request.max_tokens.unwrap_or_default().into();
        self.seen.lock().unwrap().push(Seen {
            name: request.messages[0].text(),
            begun,
            ended: self.began.elapsed(),
            tokens,
        });
        Ok(Reply::new(
            "yes",
            Vec::new(),
            Usage::new(0, tokens),
            Stop::Done,
        ))
    }
}

async fn ask_all(model: &impl Model, requests: &[Request]) {
    let all = join_all(requests.iter().map(|request| model.complete(request))).await;
    assert!(all.iter().all(Result::is_ok));
}

#[tokio::test(start_paused = true)]
async fn no_more_requests_begin_in_a_minute_than_are_allowed() {
    let provider = Arc::new(Provider::new(1));
    let model = Limited::new(provider.clone()).requests_per_minute(2);
    ask_all(&model, &[request("a", 1), request("b", 1)]).await;
    sleep(Duration::from_secs(30)).await;
    // Those that wait begin a minute behind the ones before them, and not at the next full minute.
    ask_all(&model, &vec![request("c", 1); 3]).await;
    assert_eq!(provider.begun(), [0, 0, 60, 60, 120]);
}

#[tokio::test(start_paused = true)]
async fn no_more_tokens_are_used_in_a_minute_than_are_allowed() {
    let provider = Arc::new(Provider::new(10));
    let model = Limited::new(provider.clone()).tokens_per_minute(100);
    // Of the first two, one waits until the other one ends, and then until it is a minute ago.
    ask_all(&model, &[request("", 60), request("", 60), request("", 40)]).await;
    assert_eq!(provider.begun(), [0, 70, 70]);
    // One that is too large for any minute has one of its own.
    ask_all(&model, &[request("", 500)]).await;
    assert_eq!(provider.begun(), [0, 70, 70, 140]);
    // What is sent counts as well: 4 characters are a token.
    ask_all(&model, &[request(&"x".repeat(397), 0)]).await;
    ask_all(&model, &[request("x", 0)]).await;
    assert_eq!(provider.begun(), [0, 70, 70, 140, 210, 280]);
}

/// Uses less than its requests allow, or does not say what it uses.
struct Modest(Provider, u64);

#[async_trait]
impl Model for Modest {
    async fn complete(&self, request: &Request) -> Result<Reply, ModelError> {
        let mut reply = self.0.complete(request).await?;
        reply.usage = Usage::new(self.1, 0);
        Ok(reply)
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_counts_as_what_it_used_or_else_as_what_was_expected() {
    let modest = Arc::new(Modest(Provider::new(10), 10));
    let model = Limited::new(modest.clone()).tokens_per_minute(100);
    ask_all(&model, &[request("", 90), request("", 90), request("", 80)]).await;
    assert_eq!(modest.0.begun(), [0, 10, 20]);

    let silent = Arc::new(Modest(Provider::new(10), 0));
    let model = Limited::new(silent.clone()).tokens_per_minute(100);
    ask_all(&model, &[request("", 90), request("", 90)]).await;
    assert_eq!(silent.0.begun(), [0, 70]);
}

#[tokio::test(start_paused = true)]
async fn no_more_requests_are_under_way_than_are_allowed() {
    let provider = Arc::new(Provider::new(10));
    let model = Limited::new(provider.clone()).concurrency(2);
    ask_all(&model, &vec![request("", 1); 5]).await;
    assert_eq!(provider.begun(), [0, 0, 10, 10, 20]);

    let none = Arc::new(Provider::new(10));
    let model = Limited::new(none.clone())
        .concurrency(0)
        .requests_per_minute(0);
    ask_all(&model, &vec![request("", 1); 2]).await;
    assert_eq!(none.begun(), [0, 60]);
}

/// Begins an answer at once, and ends it after a second or never.
struct Streams(bool);

#[async_trait]
impl Model for Streams {
    async fn complete(&self, _: &Request) -> Result<Reply, ModelError> {
        unreachable!("streams are asked for")
    }

    async fn stream(&self, _: &Request) -> Result<ReplyStream, ModelError> {
        let ends = self.0;
        let end = stream::once(async move {
            sleep(Duration::from_secs(1)).await;
            if !ends {
                std::future::pending::<()>().await;
            }
            Ok(Chunk::end(Usage::new(70, 0), Stop::Done))
        });
        Ok(stream::iter([Ok(Chunk::text("It "))]).chain(end).boxed())
    }
}

#[tokio::test(start_paused = true)]
async fn a_stream_is_under_way_until_it_has_ended_or_is_dropped() {
    let model = Limited::new(Streams(true))
        .concurrency(1)
        .tokens_per_minute(100);
    let began = Instant::now();
    let first = model.stream(&request("", 1)).await.unwrap();
    let (chunks, second) = tokio::join!(first.count(), async {
        let second = model.stream(&request("", 40)).await.unwrap();
        (second, began.elapsed().as_secs())
    });
    // The second one waits for the end, and then until the 70 tokens are a minute ago.
    assert_eq!((chunks, second.1), (2, 61));

    let model = Limited::new(Streams(false)).concurrency(1);
    let began = Instant::now();
    let mut first = model.stream(&request("", 1)).await.unwrap();
    first.next().await.unwrap().unwrap();
    tokio::join!(
        async {
            sleep(Duration::from_secs(5)).await;
            drop(first);
        },
        async {
            drop(model.stream(&request("", 1)).await.unwrap());
        }
    );
    assert_eq!(began.elapsed().as_secs(), 5);
}

#[tokio::test(start_paused = true)]
async fn a_request_that_is_dropped_while_it_waits_leaves_the_queue() {
    let provider = Arc::new(Provider::new(1));
    let model = Limited::new(provider.clone()).requests_per_minute(1);
    ask_all(&model, &[request("first", 1)]).await;
    let (dropped, last) = (request("dropped", 1), request("last", 1));
    let dropped = tokio::time::timeout(Duration::from_secs(10), model.complete(&dropped));
    let (dropped, last) = tokio::join!(dropped, model.complete(&last));
    assert!(dropped.is_err() && last.is_ok());
    let names: Vec<_> = provider.seen().into_iter().map(|it| it.name).collect();
    assert_eq!(
        (names, provider.begun()),
        (vec!["first".into(), "last".into()], vec![0, 60])
    );
}

#[tokio::test(start_paused = true)]
async fn a_large_request_is_not_overtaken_by_smaller_ones() {
    let provider = Arc::new(Provider::new(1));
    let model = Limited::new(provider.clone()).tokens_per_minute(100);
    let requests = [
        request("half", 50),
        request("large", 85),
        request("small", 10),
    ];
    ask_all(&model, &requests).await;
    let seen: Vec<_> = provider
        .seen()
        .into_iter()
        .map(|it| (it.name, it.begun.as_secs()))
        .collect();
    let expected = [("half", 0), ("large", 61), ("small", 61)];
    assert_eq!(seen, expected.map(|(name, begun)| (name.to_owned(), begun)));
}

#[tokio::test(start_paused = true)]
async fn all_wait_as_long_as_the_provider_asks_one_of_them() {
    let limited = ModelError::RateLimited {
        retry_after: Some(Duration::from_secs(20)),
        message: "slow down".to_owned(),
    };
    let script = Arc::new(ScriptedModel::new().error(limited).text("a").text("b"));
    let model = Limited::new(Arc::clone(&script));
    let began = Instant::now();
    model.complete(&request("", 1)).await.unwrap_err();
    let other = model.clone(); // shares the limits
    other.complete(&request("", 1)).await.unwrap();
    assert_eq!(began.elapsed().as_secs(), 20);
    model.complete(&request("", 1)).await.unwrap();
    assert_eq!(began.elapsed().as_secs(), 20);

    let limited = ModelError::RateLimited {
        retry_after: Some(Duration::from_secs(20)),
        message: String::new(),
    };
    let script = Limited::new(ScriptedModel::new().error(limited).text("a"));
    let began = Instant::now();
    Retrying::new(script)
        .jitter(0.0)
        .complete(&request("", 1))
        .await
        .unwrap();
    assert_eq!(began.elapsed().as_secs(), 20);
}

/// What a model inside gives up tells how long to wait all the same.
#[tokio::test(start_paused = true)]
async fn a_limit_that_is_given_up_inside_holds_up_the_next_request() {
    let limited = ModelError::RateLimited {
        retry_after: Some(Duration::from_secs(20)),
        message: String::new(),
    };
    let script = Retrying::new(ScriptedModel::new().error(limited).text("a"));
    let model = Limited::new(script.attempts(1));
    let began = Instant::now();
    model.complete(&request("", 1)).await.unwrap_err();
    model.complete(&request("", 1)).await.unwrap();
    assert_eq!(began.elapsed().as_secs(), 20);
}

/// Asks its model once for each item.
struct AskEach(Limited<Arc<Provider>>);

#[node(writes = said)]
impl AskEach {
    async fn exec(&self, item: &u32) -> Result<String, ModelError> {
        Ok(self.0.complete(&request("", *item)).await?.content)
    }
}

flow! {
    Each(items: Vec<u32>) -> (said: Vec<String>) {
        node ask_each: AskEach;
        node said: for item in items { ask_each } with concurrency(10);
        start >> said >> end;
    }
}

#[tokio::test(start_paused = true)]
async fn runs_share_the_limits_of_their_model_and_can_be_cancelled_while_they_wait() {
    let provider = Arc::new(Provider::new(1));
    let model = Limited::new(provider.clone()).requests_per_minute(3);
    let flow = || Each::builder().ask_each(AskEach(model.clone())).build();
    let (one, other) = (flow(), flow());
    let items = vec![1, 1];
    let (one, other) = tokio::join!(
        one.run(EachInput {
            items: items.clone()
        }),
        other.run(EachInput {
            items: items.clone()
        })
    );
    assert_eq!((one.unwrap().said.len(), other.unwrap().said.len()), (2, 2));
    assert_eq!(provider.begun(), [0, 0, 0, 60]);

    let token = CancellationToken::new();
    let options = RunOptions::new().cancellation(token.clone());
    let (flow, began) = (flow(), Instant::now());
    let run = flow.run_with(EachInput { items: vec![1; 5] }, options);
    let (ended, ()) = tokio::join!(run, async {
        sleep(Duration::from_secs(2)).await;
        token.cancel();
    });
    assert!(matches!(ended, Err(FlowError::Cancelled { .. })));
    assert_eq!(began.elapsed().as_secs(), 2);
    // Nobody of those who waited is left in the queue.
    model.complete(&request("", 1)).await.unwrap();
    assert_eq!(provider.begun().len(), 7);
}

fn block_on<F: Future>(future: impl FnOnce() -> F) -> F::Output {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_time().start_paused(true).build().unwrap();
    runtime.block_on(async { future().await })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whenever requests come: in no minute begin too many, in no minute are too many tokens used, and
    /// never are too many under way. All are sent, in the order in which they came.
    #[test]
    fn the_limits_hold_for_any_requests(
        arrivals in prop::collection::vec((0..40_u64, 0..60_u32), 1..60),
        requests in 1..8_u32,
        tokens in 60..150_u64,
        slots in 1..6_usize,
        takes in 0..50_u64,
    ) {
        let seen = block_on(|| async {
            let provider = Arc::new(Provider::new(takes));
            let model = Limited::new(provider.clone())
                .requests_per_minute(requests)
                .tokens_per_minute(tokens)
                .concurrency(slots);
            let mut at = Duration::ZERO;
            let all = arrivals.iter().enumerate().map(|(number, (pause, size))| {
                at += Duration::from_secs(*pause);
                let (at, model) = (at, model.clone());
                async move {
                    sleep(at).await;
                    model.complete(&request(&number.to_string(), *size)).await.unwrap();
                }
            });
            join_all(all.collect::<Vec<_>>()).await;
            provider.seen()
        });
        prop_assert_eq!(seen.len(), arrivals.len());
        let minute = Duration::from_secs(60);
        let mut order: Vec<_> = seen.iter().collect();
        order.sort_by_key(|it| it.name.parse::<usize>().unwrap());
        prop_assert!(order.is_sorted_by_key(|it| it.begun));
        for one in &seen {
            let within = |time: Duration| one.begun <= time && time < one.begun + minute;
            let begun = seen.iter().filter(|it| within(it.begun)).count();
            prop_assert!(begun <= requests as usize, "{} in a minute", begun);
            let within = |time: Duration| one.ended <= time && time < one.ended + minute;
            let used: u64 = seen.iter().filter(|it| within(it.ended)).map(|it| it.tokens).sum();
            prop_assert!(used <= tokens, "{} tokens in a minute", used);
            let under_way = |it: &&Seen| it.begun <= one.begun && one.begun < it.ended;
            prop_assert!(seen.iter().filter(under_way).count() <= slots);
        }
    }
}
