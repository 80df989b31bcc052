//! Budgets of runs and of processes.

use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use async_trait::async_trait;
use flow_agents::{
    AboutModel, Account, Ask, Budget, BudgetError, Budgeted, Charged, Chat, Chunk, Day, Ledger,
    Limit, MemoryLedger, Message, Messages, Model, ModelError, Money, OverBudget, Price, Prices,
    Reply, ReplyStream, Request, Retrying, ScriptedModel, Spent, Stop, Usage,
};
use flow_runtime::prelude::*;
use futures_util::future::join_all;
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use proptest::prelude::*;

fn messages() -> Messages {
    Messages::from_iter([Message::user("Well?")])
}

fn request(max_tokens: Option<u32>) -> Request {
    let mut request = Request::new(&messages());
    request.max_tokens = max_tokens;
    request
}

fn prices() -> Prices {
    let price = Price::new("1".parse().unwrap(), "1000".parse().unwrap());
    Prices::new().with(AboutModel::new("", "scripted"), price)
}

fn money(text: &str) -> Money {
    text.parse().unwrap()
}

fn over(error: &ModelError) -> &OverBudget {
    error.over_budget().unwrap_or_else(|| panic!("{error:?}"))
}

fn unavailable() -> ModelError {
    let source = "down".into();
    ModelError::Unavailable {
        retry_after: None,
        source,
    }
}

/// Answers after a while: with as many tokens as the request allows.
struct Slow(Duration);

#[async_trait]
impl Model for Slow {
    async fn complete(&self, request: &Request) -> Result<Reply, ModelError> {
        tokio::time::sleep(self.0).await;
        let tokens = request.max_tokens.unwrap_or(5).into();
        Ok(Reply::new(
            "yes",
            Vec::new(),
            Usage::new(10, tokens),
            Stop::Done,
        ))
    }
}

#[tokio::test(start_paused = true)]
async fn all_that_is_used_is_counted() {
    let script = ScriptedModel::new()
        .text("a")
        .usage(1000, 10)
        .text("b")
        .usage(2000, 20);
    let model = Budgeted::new(script, Budget::new()).prices(prices());
    model.complete(&request(None)).await.unwrap();
    model
        .stream(&request(None))
        .await
        .unwrap()
        .try_collect::<Vec<_>>()
        .await
        .unwrap();
    let spent = model.spent();
    assert_eq!((spent.calls, spent.usage), (2, Usage::new(3000, 30)));
    assert_eq!(spent.money, money("0.033"));

    let model = Budgeted::new(Slow(Duration::from_secs(3)), Budget::new()).after(spent);
    model.complete(&request(None)).await.unwrap();
    let chunks = model.stream(&request(None)).await.unwrap();
    chunks.try_collect::<Vec<_>>().await.unwrap();
    let spent = model.spent();
    assert_eq!((spent.calls, spent.usage), (4, Usage::new(3020, 40)));
    assert_eq!(
        (spent.money, spent.time),
        (money("0.033"), Duration::from_secs(6))
    );
}

#[tokio::test]
async fn a_model_is_not_asked_when_nothing_is_left() {
    let script = ScriptedModel::new()
        .text("a")
        .usage(10, 1)
        .text("b")
        .usage(10, 1);
    let model = Budgeted::new(script, Budget::new().output_tokens(2));
    model.complete(&request(None)).await.unwrap();
    model.complete(&request(None)).await.unwrap();
    let error = model.complete(&request(None)).await.unwrap_err();
    assert_eq!(over(&error).limit, Limit::OutputTokens(2));
    assert_eq!(over(&error).spent, model.spent());
    assert!(!error.is_transient());
    let Err(error) = model.stream(&request(None)).await else {
        panic!("it was asked")
    };
    assert_eq!(over(&error).spent.calls, 2);
    assert_eq!(model.spent().calls, 2);
}

#[tokio::test]
async fn a_request_that_fails_is_counted_as_far_as_is_known() {
    let cut = Reply::new("It ra", Vec::new(), Usage::new(7, 3), Stop::Length);
    let long = ModelError::TooLong {
        reply: Box::new(cut),
    };
    let model = ScriptedModel::new()
        .error(unavailable())
        .error(long)
        .error(unavailable());
    let model = Budgeted::new(model, Budget::new().calls(3).tokens(100));
    model.complete(&request(Some(50))).await.unwrap_err();
    assert_eq!(
        (model.spent().calls, model.spent().usage),
        (1, Usage::default())
    );
    model.complete(&request(None)).await.unwrap_err();
    assert_eq!(
        (model.spent().calls, model.spent().usage),
        (2, Usage::new(7, 3))
    );
    assert!(model.stream(&request(Some(50))).await.is_err());
    assert_eq!(
        (model.spent().calls, model.spent().usage),
        (3, Usage::new(7, 3))
    );
    over(&model.complete(&request(None)).await.unwrap_err());
}

/// Begins an answer and does not end it.
struct Broken(fn() -> ReplyStream);

#[async_trait]
impl Model for Broken {
    async fn complete(&self, _: &Request) -> Result<Reply, ModelError> {
        unreachable!("streams are asked for")
    }

    async fn stream(&self, _: &Request) -> Result<ReplyStream, ModelError> {
        Ok(stream::iter([Ok(Chunk::text("It "))])
            .chain((self.0)())
            .boxed())
    }
}

#[tokio::test]
async fn a_stream_that_does_not_end_is_a_call() {
    let model = Broken(|| stream::empty().boxed());
    let model = Budgeted::new(model, Budget::new());
    let chunks = model.stream(&request(Some(9))).await.unwrap();
    assert_eq!(chunks.count().await, 1);
    assert_eq!(
        (model.spent().calls, model.spent().usage),
        (1, Usage::new(0, 9))
    );

    let model = Broken(|| stream::iter([Err(unavailable())]).boxed());
    let model = Budgeted::new(model, Budget::new());
    let chunks = model.stream(&request(Some(9))).await.unwrap();
    assert_eq!(chunks.filter_map(async |it| it.err()).count().await, 1);
    assert_eq!(
        (model.spent().calls, model.spent().usage),
        (1, Usage::new(0, 9))
    );

    let model = Budgeted::new(Broken(|| stream::pending().boxed()), Budget::new());
    let mut chunks = model.stream(&request(Some(9))).await.unwrap();
    chunks.next().await.unwrap().unwrap();
    drop(chunks); // what it used is not known
    assert_eq!(
        (model.spent().calls, model.spent().usage),
        (1, Usage::new(0, 9))
    );
}

#[tokio::test]
async fn an_answer_that_was_made_and_cannot_be_used_stays_as_it_was_reserved() {
    let cut_off = ModelError::CutOff {
        characters: 3,
        calls: 0,
    };
    let source = "no JSON".into();
    let refused = ModelError::RateLimited {
        retry_after: None,
        message: "slowly".to_owned(),
    };
    let script = ScriptedModel::new()
        .error(cut_off)
        .error(ModelError::Malformed { source })
        .error(refused);
    let model = Budgeted::new(script, Budget::new()).prices(prices());
    for (calls, tokens, cost) in [(1, 50, "0.05"), (2, 100, "0.1"), (3, 100, "0.1")] {
        model.complete(&request(Some(50))).await.unwrap_err();
        let spent = model.spent();
        assert_eq!((spent.calls, spent.usage), (calls, Usage::new(0, tokens)));
        assert_eq!(spent.money, money(cost));
    }
}

/// Holds its answers back, and does not say what they used.
struct Silent;

#[async_trait]
impl Model for Silent {
    async fn complete(&self, _: &Request) -> Result<Reply, ModelError> {
        let (content, calls) = (String::new(), Vec::new());
        Ok(Reply::new(content, calls, Usage::default(), Stop::Filtered))
    }
}

#[tokio::test]
async fn that_an_answer_was_held_back_is_said_also_if_it_does_not_say_what_it_used() {
    let model = Budgeted::new(Silent, Budget::new().tokens(100));
    let reply = model.complete(&request(Some(40))).await.unwrap();
    assert_eq!(reply.stop, Stop::Filtered);
    let chunks = model.stream(&request(Some(40))).await.unwrap();
    let chunks = chunks.try_collect::<Vec<_>>().await.unwrap();
    let end = Chunk::end(Usage::default(), Stop::Filtered);
    assert_eq!(chunks.last(), Some(&end));
    assert_eq!(model.spent().usage, Usage::new(0, 80));
}

#[tokio::test(start_paused = true)]
async fn the_time_of_a_stream_is_that_of_the_waits_for_it() {
    let second = Duration::from_secs(1);
    let model = Broken(|| {
        let end = async {
            tokio::time::sleep(Duration::from_secs(1)).await;
            Ok(Chunk::end(Usage::new(1, 1), Stop::Done))
        };
        stream::once(end).boxed()
    });
    let model = Budgeted::new(model, Budget::new());
    let mut chunks = model.stream(&request(None)).await.unwrap();
    while chunks.next().await.is_some() {
        tokio::time::sleep(60 * second).await;
    }
    assert_eq!(model.spent().time, second);
}

#[tokio::test]
async fn a_limit_of_money_needs_a_price_and_others_do_not() {
    let script = || ScriptedModel::new().text("a").usage(1, 1);
    let model = Budgeted::new(script(), Budget::new().money(money("1")));
    let error = model.complete(&request(None)).await.unwrap_err();
    assert!(
        matches!(error, ModelError::Budget(BudgetError::NoPrice(_))),
        "{error:?}"
    );
    assert_eq!(model.spent(), Spent::default());

    let model = Budgeted::new(script(), Budget::new().money(money("1"))).prices(prices());
    model.complete(&request(None)).await.unwrap();
    assert_eq!(model.spent().money, money("0.001001"));
    let model = Budgeted::new(script(), Budget::new().tokens(10));
    model.complete(&request(None)).await.unwrap();
    assert_eq!(model.spent().money, Money::ZERO);
}

#[tokio::test]
async fn an_answer_that_does_not_say_what_it_used_cannot_be_limited() {
    for budget in [
        Budget::new().tokens(9),
        Budget::new().input_tokens(9),
        Budget::new().output_tokens(9),
        Budget::new().money(money("9")),
    ] {
        let script = ScriptedModel::new().text("a").text("b");
        let model = Budgeted::new(script, budget).prices(prices());
        let error = model.complete(&request(None)).await.unwrap_err();
        let text = error.to_string();
        assert!(
            text.contains("\"scripted\" of \"\" does not say how many it used"),
            "{text}"
        );
        let chunks = model.stream(&request(None)).await.unwrap();
        chunks.try_collect::<Vec<_>>().await.unwrap_err();
        assert_eq!(model.spent().calls, 2);
    }
    let model = Budgeted::new(ScriptedModel::new().text("a"), Budget::new().calls(9));
    model.complete(&request(None)).await.unwrap();
}

#[tokio::test]
async fn each_time_that_an_answer_does_not_fit_is_counted() {
    let script = ScriptedModel::new()
        .text("?")
        .usage(10, 1)
        .text("!")
        .usage(10, 1)
        .text("7");
    let model = Budgeted::new(script, Budget::new().tokens(22));
    let messages = messages();
    let error = Ask::new(&model, &messages)
        .answer::<u64>()
        .await
        .unwrap_err();
    let spent = error.over_budget().unwrap().spent;
    assert_eq!((spent.calls, error.usage()), (2, Usage::new(20, 2)));
}

#[tokio::test(start_paused = true)]
async fn the_attempts_of_a_model_inside_are_one_call_and_those_around_are_several() {
    let script = || ScriptedModel::new().error(unavailable()).text("a");
    let model = Budgeted::new(Retrying::new(script()), Budget::new());
    model.complete(&request(None)).await.unwrap();
    assert_eq!(model.spent().calls, 1);
    let model = Arc::new(Budgeted::new(script(), Budget::new()));
    Retrying::new(Arc::clone(&model))
        .complete(&request(None))
        .await
        .unwrap();
    assert_eq!(model.spent().calls, 2);
}

flow! {
    Talk(messages: Messages) -> (messages: Messages) {
        node chat: Chat;
        start >> chat >> end;
    }
}

#[tokio::test]
async fn runs_that_share_a_model_share_its_budget() {
    let script = ScriptedModel::new().text("a").text("b").text("c");
    let model = Arc::new(Budgeted::new(script, Budget::new().calls(2)));
    let flow = Talk::builder().chat(Chat::new(model)).build();
    let run = || {
        flow.run(TalkInput {
            messages: messages(),
        })
    };
    run().await.unwrap();
    run().await.unwrap();
    let error = format!("{:#}", run().await.unwrap_err());
    assert!(
        error.contains("nothing is left of a budget (calls: 2)"),
        "{error}"
    );
}

fn block_on<F: Future>(future: F) -> F::Output {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_time().start_paused(true).build().unwrap();
    runtime.block_on(future)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Requests that run at once never exceed the calls, and the tokens by less than one of them.
    #[test]
    fn requests_at_the_same_time_do_not_spend_the_same_rest(
        sizes in prop::collection::vec(1..100_u32, 1..40),
        calls in 1..40_u64,
        tokens in 1..2000_u64,
    ) {
        let budget = Budget::new().calls(calls).output_tokens(tokens);
        let ledger: Arc<dyn Ledger> = Arc::new(MemoryLedger::new());
        let charged = |ledger| {
            let model = Charged::new(Slow(Duration::from_secs(1)), ledger, "ann", budget);
            model.clock(|| UNIX_EPOCH)
        };
        let budgeted = Budgeted::new(Slow(Duration::from_secs(1)), budget);
        let (shared, spent) = block_on(async {
            let one = join_all(sizes.iter().map(async |size| {
                budgeted.complete(&request(Some(*size))).await.is_ok()
            }));
            // Each request is one of a process of its own.
            let other = join_all(sizes.iter().map(async |size| {
                let model = charged(Arc::clone(&ledger));
                model.complete(&request(Some(*size))).await.is_ok()
            }));
            let (one, other) = futures_util::future::join(one, other).await;
            assert_eq!(one, other);
            (one, ledger.spent(&Account::new("ann", Day(0))).await.unwrap())
        });
        let asked = sizes.iter().zip(&shared).filter(|(_, asked)| **asked);
        let used: Vec<u64> = asked.map(|(size, _)| u64::from(*size)).collect();
        prop_assert_eq!(budgeted.spent().calls, used.len() as u64);
        prop_assert_eq!(budgeted.spent().usage.output_tokens, used.iter().sum::<u64>());
        prop_assert_eq!(budgeted.spent(), spent);
        prop_assert!(spent.calls <= calls);
        prop_assert!(used[..used.len() - 1].iter().sum::<u64>() < tokens);
        // Whoever was refused found nothing left.
        let is_used_up = spent.calls == calls || spent.usage.output_tokens >= tokens;
        prop_assert!(is_used_up || used.len() == sizes.len());
    }
}
