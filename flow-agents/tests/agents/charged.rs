//! Budgets of owners, and what is counted when a process is stopped.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, UNIX_EPOCH};

use async_trait::async_trait;
use flow_agents::{
    AboutModel, Account, AskError, Budget, Budgeted, Charged, Day, Ledger, Limit, MemoryLedger,
    Message, Messages, Model, ModelError, Money, Price, Prices, Reply, Request, ScriptedModel,
    Spent, Stop, Usage, ask,
};
use flow_durable::{MemoryStore, Runtime, StartOptions};
use flow_runtime::prelude::*;
use tokio::sync::Notify;

fn messages() -> Messages {
    Messages::from_iter([Message::user("Well?")])
}

fn request() -> Request {
    Request::new(&messages())
}

fn money(text: &str) -> Money {
    text.parse().unwrap()
}

#[tokio::test]
async fn owners_and_days_have_their_own_budgets() {
    let ledger = Arc::new(MemoryLedger::new());
    let now = Arc::new(Mutex::new(
        UNIX_EPOCH + Duration::from_secs(86_400 * 10 - 1),
    ));
    let charged = |owner: &str| {
        let script = ScriptedModel::new().text("a").usage(10, 1);
        let now = Arc::clone(&now);
        Charged::new(script, ledger.clone(), owner, Budget::new().tokens(11))
            .prices(Prices::new().with(
                AboutModel::new("", "scripted"),
                Price::new(money("1"), money("1000")),
            ))
            .clock(move || *now.lock().unwrap())
    };
    charged("ann").complete(&request()).await.unwrap();
    charged("bob").complete(&request()).await.unwrap();
    let error = charged("ann").complete(&request()).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "the owner \"ann\" may spend no more on day 9"
    );
    assert_eq!(error.over_budget().unwrap().limit, Limit::Tokens(11));

    *now.lock().unwrap() += Duration::from_secs(1);
    charged("ann").complete(&request()).await.unwrap();
    let spent = async |day| ledger.spent(&Account::new("ann", Day(day))).await.unwrap();
    assert_eq!((spent(9).await.calls, spent(10).await.calls), (1, 1));
    assert_eq!(spent(10).await.money, money("0.00101"));
    ledger.forget_before(Day(10));
    assert_eq!((spent(9).await.calls, spent(10).await.calls), (0, 1));
    assert_eq!(Day::utc(UNIX_EPOCH - Duration::from_secs(1)), Day(0));
}

#[tokio::test]
async fn a_request_that_another_budget_refuses_is_not_counted() {
    let script = ScriptedModel::new().text("a").usage(10, 1);
    let ledger = Arc::new(MemoryLedger::new());
    let model = Charged::new(script, ledger, "ann", Budget::new().calls(1));
    let model = Budgeted::new(model, Budget::new());
    model.complete(&request()).await.unwrap();
    for _ in 0..2 {
        model.complete(&request()).await.unwrap_err();
        assert!(model.stream(&request()).await.is_err());
    }
    assert_eq!(model.spent().calls, 1);
}

/// Answers of which every second one does not fit, and stops for good at one of its requests.
#[derive(Default)]
struct Stops {
    requests: AtomicUsize,
    at: Option<usize>,
    reached: Arc<Notify>,
}

#[async_trait]
impl Model for Stops {
    async fn complete(&self, request: &Request) -> Result<Reply, ModelError> {
        if self.at == Some(self.requests.fetch_add(1, Ordering::SeqCst)) {
            self.reached.notify_one();
            std::future::pending::<()>().await;
        }
        let is_first = request.messages.len() == 2;
        let (text, usage) = if is_first {
            ("?", Usage::new(10, 1))
        } else {
            ("7", Usage::new(20, 2))
        };
        Ok(Reply::new(text, Vec::new(), usage, Stop::Done))
    }
}

/// Asks for a number, counts what that took in the state and in the ledger, and may then stop for
/// good.
struct Number {
    model: Arc<Stops>,
    ledger: Arc<MemoryLedger>,
    stops: bool,
}

#[node(writes(number, spent))]
impl Number {
    async fn exec(&self, cx: &Context, spent: Spent) -> Result<(u64, Spent), AskError> {
        let charged = Charged::new(&self.model, self.ledger.clone(), "ann", Budget::new());
        let charged = charged.step(cx).clock(|| UNIX_EPOCH);
        let model = Budgeted::new(charged, Budget::new()).after(spent);
        let number = ask::<u64>(&model, &messages()).await?;
        if self.stops {
            self.model.reached.notify_one();
            std::future::pending::<()>().await;
        }
        let mut spent = model.spent();
        spent.time = Duration::ZERO;
        Ok((number, spent))
    }
}

flow! {
    Numbers(spent: Spent) -> (number: u64, spent: Spent) {
        node first: Number;
        node second: Number;
        start >> first >> second >> end;
    }
}

#[tokio::test]
async fn what_was_spent_is_counted_once_wherever_a_run_is_stopped() {
    let before_the_answers = (0..4).map(|at| (Some(at), [false, false]));
    let behind_the_answers = [(None, [true, false]), (None, [false, true])];
    for (at, stops) in before_the_answers.chain(behind_the_answers) {
        let (store, ledger) = (Arc::new(MemoryStore::new()), Arc::new(MemoryLedger::new()));
        let flow = |at, stops: [bool; 2], reached: &Arc<Notify>| {
            let reached = Arc::clone(reached);
            let model = Arc::new(Stops {
                at,
                reached,
                ..Stops::default()
            });
            let [first, second] = stops.map(|stops| {
                let (model, ledger) = (Arc::clone(&model), Arc::clone(&ledger));
                Number {
                    model,
                    ledger,
                    stops,
                }
            });
            Numbers::builder().first(first).second(second).build()
        };
        let reached = Arc::new(Notify::new());
        let runtime = Runtime::new(Arc::clone(&store));
        runtime.register(flow(at, stops, &reached)).unwrap();
        let input = NumbersInput {
            spent: Spent::default(),
        };
        let id = runtime
            .executions()
            .start::<Numbers>(input, StartOptions::new())
            .await
            .unwrap()
            .id();
        reached.notified().await;
        runtime.shut_down().await;

        let runtime = Runtime::new(store);
        runtime.register(flow(None, [false; 2], &reached)).unwrap();
        assert_eq!(runtime.recover().await.unwrap().resumed, [id]);
        let execution = runtime
            .executions()
            .get(id)
            .await
            .unwrap()
            .settled()
            .await
            .unwrap();
        let output = execution.output::<Numbers>().unwrap().expect("it ended");
        assert_eq!(output.number, 7);
        assert_eq!(
            (output.spent.calls, output.spent.usage),
            (4, Usage::new(60, 6))
        );
        let counted = ledger.spent(&Account::new("ann", Day(0))).await.unwrap();
        assert_eq!(
            (counted.calls, counted.usage),
            (4, Usage::new(60, 6)),
            "{at:?} {stops:?}"
        );
    }
}

/// Asks each question through a model of its own, and falls back to one question more.
struct Questions {
    ledger: Arc<MemoryLedger>,
}

impl Questions {
    async fn ask(&self, cx: &Context) -> Result<u64, ModelError> {
        let script = ScriptedModel::new().text("7").usage(10, 1);
        let budget = Budget::new().calls(3);
        let model = Charged::new(script, self.ledger.clone(), "ann", budget);
        let model = model.step(cx).clock(|| UNIX_EPOCH);
        model.complete(&request()).await.map(|_| 1)
    }
}

#[node(writes = answers)]
impl Questions {
    async fn exec(&self, cx: &Context, questions: u64) -> Result<u64, ModelError> {
        let mut answers = 0;
        for _ in 0..questions {
            answers += self.ask(cx).await?;
        }
        match answers {
            2 => Err(ModelError::Refused {
                source: "two are too few".into(),
            }),
            answers => Ok(answers),
        }
    }

    async fn exec_fallback(&self, cx: &Context, error: &NodeError) -> Result<u64, ModelError> {
        let _ = error;
        self.ask(cx).await
    }
}

flow! {
    Questioned(questions: u64) -> (answers: u64) {
        node ask: Questions;
        start >> ask >> end;
    }
}

#[tokio::test]
async fn all_requests_of_a_step_count_through_however_many_models_it_asks() {
    for (questions, answers, calls) in [(3, Some(3), 3), (4, None, 3), (2, Some(1), 3)] {
        let ledger = Arc::new(MemoryLedger::new());
        let ask = Questions {
            ledger: Arc::clone(&ledger),
        };
        let runtime = Runtime::new(Arc::new(MemoryStore::new()));
        runtime
            .register(Questioned::builder().ask(ask).build())
            .unwrap();
        let input = QuestionedInput { questions };
        let run = runtime
            .executions()
            .start::<Questioned>(input, StartOptions::new());
        let execution = run.await.unwrap().settled().await.unwrap();
        let output = execution.output::<Questioned>().ok().flatten();
        assert_eq!(output.map(|it| it.answers), answers, "{questions}");
        let spent = ledger.spent(&Account::new("ann", Day(0))).await.unwrap();
        assert_eq!(spent.calls, calls, "{questions}");
    }
}

#[tokio::test]
async fn what_was_spent_is_the_same_from_each_record_on() {
    let flow = || {
        let model = Arc::new(Stops::default());
        let [first, second] = [0, 1].map(|_| {
            let ledger = Arc::new(MemoryLedger::new());
            Number {
                model: Arc::clone(&model),
                ledger,
                stops: false,
            }
        });
        Numbers::builder().first(first).second(second).build()
    };
    let runtime = Runtime::new(Arc::new(MemoryStore::new()));
    runtime.register(flow()).unwrap();
    let input = NumbersInput {
        spent: Spent::default(),
    };
    let first = runtime
        .executions()
        .start::<Numbers>(input, StartOptions::new())
        .await
        .unwrap();
    let first = first.settled().await.unwrap();
    let journal = first.journal().await.unwrap();
    assert!(journal.len() > 2, "{journal:?}");
    for record in journal {
        let copy = runtime
            .executions()
            .copy(first.id(), record.seq)
            .await
            .unwrap()
            .settled()
            .await
            .unwrap();
        let output = copy.output::<Numbers>().unwrap().expect("it ended");
        assert_eq!(
            (output.spent.calls, output.spent.usage),
            (4, Usage::new(60, 6)),
            "{record:?}"
        );
    }
}
