//! Operations in a process that has none of the flows, on both stores.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use flow_durable::{
    Append, EventFilter, Execution, ListOptions, MemoryStore, PauseRow, Record, RecordKind,
    Runtime, RuntimeError, StartOptions, Status, Store,
};
use flow_runtime::prelude::*;
use flow_sqlite::SqliteStore;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::support::{clock, lines, minutes, options, pass, runtime, settled};

/// A number that not every number of its type can be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "u8")]
struct Percent(u8);

impl TryFrom<u8> for Percent {
    type Error = String;

    fn try_from(number: u8) -> Result<Self, String> {
        match number {
            0..=100 => Ok(Percent(number)),
            _ => Err(format!("{number} is more than 100")),
        }
    }
}

#[node(human = "How much off for {customer}?", timeout = "1h")]
#[derive(Debug, Clone, Serialize, Deserialize)]
enum Discount {
    Granted { percent: Percent },
    Refused,
}

#[node(writes = paid)]
fn pay(percent: &Percent) -> u8 {
    100 - percent.0
}

flow! {
    Sale(customer: String) -> (paid: Option<u8>) {
        start >> Discount;
        Discount - "granted" >> pay >> end;
        Discount - "refused" >> end("refused");
        Discount - "timeout" >> end("late");
    }
}

#[node(human = "{number}?")]
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "kind")]
enum Tagged {
    Yes,
    No,
}

flow! {
    Tags(number: u64) -> () {
        start >> Tagged;
        Tagged - "yes" >> end;
        Tagged - "no" >> end("no");
    }
}

/// A process that has the flows, one that has none, and their store.
struct Processes {
    knows: Runtime,
    other: Runtime,
    store: Arc<dyn Store>,
    _folder: tempfile::TempDir,
}

impl Processes {
    async fn both() -> [Processes; 2] {
        let folder = tempfile::tempdir().unwrap();
        let sqlite = SqliteStore::open(folder.path().join("runs.db"));
        let sqlite = Arc::new(sqlite.await.unwrap());
        [
            Processes::of(Arc::new(MemoryStore::new()), tempfile::tempdir().unwrap()),
            Processes::of(sqlite, folder),
        ]
    }

    fn of<S: Store>(store: Arc<S>, folder: tempfile::TempDir) -> Processes {
        let knows = runtime(store.clone(), Sale::new());
        knows.register(Tags::new()).unwrap();
        Processes {
            knows,
            other: Runtime::with_options(store.clone(), options()),
            store,
            _folder: folder,
        }
    }

    /// An execution that asks, as the process without the flows sees it.
    async fn asked(&self) -> Execution {
        let input = SaleInput {
            customer: "Ann".into(),
        };
        let id = settled::<Sale>(&self.knows, input).await.id();
        self.other.executions().get(id).await.unwrap()
    }

    async fn question(&self, execution: &Execution) -> PauseRow {
        let questions = execution.questions().await.unwrap();
        assert_eq!(questions.len(), 1, "{questions:?}");
        let row = self.store.pause(questions[0].token()).await.unwrap();
        row.unwrap()
    }

    /// What comes of it when the process that has the flows goes on.
    async fn went_on(&self, execution: &Execution) -> Execution {
        self.knows.recover().await.unwrap();
        execution.settled().await.unwrap()
    }
}

#[tokio::test]
async fn a_process_without_the_flow_answers() {
    for processes in Processes::both().await {
        let execution = processes.asked().await;
        let question = processes.question(&execution).await;
        for (answer, reason) in [
            (json!("Perhaps"), "\"Perhaps\" is not valid"),
            (json!({ "Granted": { "percent": "all" } }), "is not valid"),
            (json!({ "Granted": { "percent": -1 } }), "is not valid"),
            (json!(null), "null is not valid"),
        ] {
            let error = processes
                .other
                .executions()
                .resume(question.token, answer)
                .await;
            let Err(RuntimeError::WrongType {
                expected,
                reason: why,
                ..
            }) = error
            else {
                panic!("{error:?}")
            };
            assert_eq!(expected, "Discount");
            assert!(why.contains(reason), "{why}");
        }
        assert_eq!(processes.question(&execution).await, question);

        let answer = json!({ "Granted": { "percent": 20 } });
        let answered = processes
            .other
            .executions()
            .resume(question.token, answer.clone())
            .await;
        assert_eq!(answered.unwrap().status(), Status::Paused);
        let again = processes
            .other
            .executions()
            .resume(question.token, answer)
            .await;
        assert!(
            matches!(again, Err(RuntimeError::AlreadyAnswered { .. })),
            "{again:?}"
        );
        let execution = processes.went_on(&execution).await;
        let output = execution.output::<Sale>().unwrap().unwrap();
        assert_eq!(output.paid, Some(80));
        let late = processes
            .other
            .executions()
            .resume(question.token, json!("Refused"))
            .await;
        assert!(matches!(late, Err(RuntimeError::Over { .. })), "{late:?}");
    }
}

/// The schema allows what the type refuses: whoever has the type asks again.
#[tokio::test]
async fn an_answer_that_only_its_schema_allows_is_asked_for_again() {
    for processes in Processes::both().await {
        let execution = processes.asked().await;
        let first = processes.question(&execution).await;
        let answer = json!({ "Granted": { "percent": 200 } });
        processes
            .other
            .executions()
            .resume(first.token, answer)
            .await
            .unwrap();
        let execution = processes.went_on(&execution).await;
        assert_eq!(execution.status(), Status::Paused);
        let second = processes.question(&execution).await;
        assert_ne!(second.token, first.token);
        let expected = PauseRow {
            token: second.token,
            created_ms: second.created_ms,
            ..first.clone()
        };
        assert_eq!(second, expected, "with the same time to answer");
        let journal = execution.journal().await.unwrap();
        let paused = |record: &&Record| record.kind == RecordKind::Paused;
        let asked: Vec<Value> = journal
            .iter()
            .filter(paused)
            .map(|record| serde_json::from_str(&record.payload).unwrap())
            .collect();
        assert_eq!(asked.len(), 2, "{}", lines(&journal));
        assert_eq!(asked[0].get("refused"), None);
        assert_eq!(asked[1]["refused"], "200 is more than 100");
        let late = processes
            .other
            .executions()
            .resume(first.token, json!("Refused"))
            .await;
        assert!(
            matches!(late, Err(RuntimeError::AlreadyAnswered { .. })),
            "{late:?}"
        );

        let copy = processes
            .other
            .executions()
            .copy(execution.id(), journal.len() as u64 - 1);
        let copy = copy.await.unwrap();
        let in_copy = processes.question(&copy).await;
        assert_eq!(in_copy.schema, first.schema, "it is asked once");

        processes
            .other
            .executions()
            .resume(second.token, json!("Refused"))
            .await
            .unwrap();
        let execution = processes.went_on(&execution).await;
        let output = execution.output::<Sale>().unwrap().unwrap();
        assert_eq!(output.end, SaleEnd::Refused);
    }
}

#[tokio::test]
async fn what_cannot_be_checked_is_not_answered() {
    for processes in Processes::both().await {
        let id = settled::<Tags>(&processes.knows, TagsInput { number: 1 })
            .await
            .id();
        let execution = processes.other.executions().get(id).await.unwrap();
        let question = processes.question(&execution).await;
        assert_eq!(question.schema, None);
        let answer = json!({ "kind": "Yes" });
        let error = processes
            .other
            .executions()
            .resume(question.token, answer.clone())
            .await;
        let error = error.unwrap_err();
        assert!(
            matches!(&error, RuntimeError::NoSchema { flow, expected, .. } if flow == "Tags" && expected == "Tagged"),
            "{error}"
        );
        let error = processes
            .other
            .executions()
            .resume(question.token, Discount::Refused)
            .await;
        assert!(
            matches!(&error, Err(RuntimeError::WrongType { reason, .. }) if reason == "it is a `Discount`"),
            "{error:?}"
        );
        processes
            .knows
            .executions()
            .resume(question.token, answer)
            .await
            .unwrap();
        assert_eq!(
            execution.settled().await.unwrap().status(),
            Status::Completed
        );
    }
}

#[tokio::test]
async fn a_process_without_the_flow_lists_copies_cancels_and_deletes() {
    for processes in Processes::both().await {
        let Processes { other, .. } = &processes;
        let execution = processes.asked().await;
        let paused = other
            .executions()
            .list(ListOptions::new().status(Status::Paused))
            .await;
        assert_eq!(paused.unwrap()[0].id(), execution.id());

        let copy = other.executions().copy(execution.id(), 2).await.unwrap();
        let copies = other
            .executions()
            .list(ListOptions::new().copies_of(execution.id()))
            .await;
        let copies: Vec<_> = copies.unwrap().iter().map(Execution::id).collect();
        assert_eq!(copies, [copy.id()]);
        assert!(matches!(
            other.executions().copy(execution.id(), 3).await,
            Err(RuntimeError::NoRecord { seq: 3, .. })
        ));
        let question = processes.question(&copy).await;
        let asked = processes.question(&execution).await;
        assert_eq!(
            (question.schema, question.expected),
            (asked.schema, asked.expected)
        );
        let answer = json!({ "Granted": { "percent": 50 } });
        other
            .executions()
            .resume(question.token, answer)
            .await
            .unwrap();
        let copy = processes.went_on(&copy).await;
        assert_eq!(copy.output::<Sale>().unwrap().unwrap().paid, Some(50));

        let cancelled = other
            .executions()
            .cancel(execution.id(), "not needed")
            .await
            .unwrap();
        assert_eq!(cancelled.reason(), Some("not needed"));
        let journal = cancelled.journal().await.unwrap();
        assert!(lines(&journal).ends_with("run_cancelled sale not needed\n"));
        other.executions().delete(execution.id()).await.unwrap();
        assert!(matches!(
            other.executions().get(execution.id()).await,
            Err(RuntimeError::NotFound(_))
        ));
        assert_eq!(
            other
                .executions()
                .list(ListOptions::new())
                .await
                .unwrap()
                .len(),
            1
        );
    }
}

/// Each page says where the next one begins.
#[tokio::test]
async fn pages_of_what_started_in_a_time() {
    for processes in Processes::both().await {
        let mut ids = Vec::new();
        let mut times: Vec<SystemTime> = Vec::new();
        for _ in 0..5 {
            let execution = processes.asked().await;
            ids.push(execution.id());
            times.push(execution.created_at());
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        let within = || {
            ListOptions::new()
                .started_from(times[1])
                .started_before(times[4])
        };
        let mut found = Vec::new();
        let mut options = within().limit(2);
        let mut pages = 0;
        loop {
            let page = processes.other.executions().list(options).await.unwrap();
            pages += 1;
            found.extend(page.iter().map(Execution::id));
            let Some(next) = page.next_page() else { break };
            options = within().limit(2).before(next);
        }
        assert_eq!(found, [ids[3], ids[2], ids[1]]);
        assert_eq!(pages, 2);
    }
}

#[tokio::test(start_paused = true)]
async fn all_owners_are_seen_by_who_asks_for_them() {
    let store = Arc::new(MemoryStore::new());
    let knows = runtime(store.clone(), Sale::new());
    let other = Runtime::with_options(store, options());
    let mut ids = Vec::new();
    let everyone = other.all_owners();
    let mut events = everyone
        .events(EventFilter::new().kinds([RecordKind::RunStarted]))
        .await
        .unwrap();
    for owner in [None, Some("ann"), Some("ben")] {
        let executions =
            owner.map_or_else(|| knows.executions().clone(), |owner| knows.owned_by(owner));
        let input = SaleInput {
            customer: "Cid".into(),
        };
        let started = executions.start::<Sale>(input, StartOptions::new()).await;
        ids.insert(0, started.unwrap().settled().await.unwrap().id());
        pass(minutes(1)).await;
    }
    let listed = everyone.list(ListOptions::new()).await.unwrap();
    let listed: Vec<_> = listed.iter().map(Execution::id).collect();
    assert_eq!(listed, ids);
    for id in ids.iter().rev() {
        assert_eq!(events.next().await.unwrap().unwrap().execution(), Some(*id));
        assert_eq!(everyone.get(*id).await.unwrap().id(), *id);
    }
    let ann = everyone.get(ids[1]).await.unwrap();
    assert_eq!((ann.owner(), everyone.owner()), (Some("ann"), None));
    let token = ann.questions().await.unwrap()[0].token();
    assert!(matches!(
        other.executions().resume(token, Discount::Refused).await,
        Err(RuntimeError::UnknownToken)
    ));
    everyone.resume(token, Discount::Refused).await.unwrap();
    let copy = everyone.copy(ids[1], 2).await.unwrap();
    assert_eq!(copy.owner(), Some("ann"), "it stays with its owner");
}

/// A process that recovers at the moment of an answer may claim the execution before the one that
/// answers.
#[tokio::test(start_paused = true)]
async fn an_answered_execution_is_not_settled_while_another_process_has_claimed_it() {
    let processes = Processes::of(Arc::new(MemoryStore::new()), tempfile::tempdir().unwrap());
    let execution = processes.asked().await;
    let token = processes.question(&execution).await.token;
    let now = clock()().duration_since(UNIX_EPOCH).unwrap().as_millis() as u64;
    let claimed = processes
        .store
        .claim(execution.id(), Uuid::new_v4(), now, now + 10_000)
        .await;
    let fence = claimed.unwrap().unwrap().fence;

    let answered = processes
        .knows
        .executions()
        .resume(token, Discount::Refused)
        .await;
    let answered = answered.unwrap();
    let within = tokio::time::timeout(Duration::from_secs(9), answered.settled());
    assert!(
        within.await.is_err(),
        "it is settled before it has used the answer"
    );

    // The other process gives it up, and nobody has claimed it.
    let release = Append {
        release: true,
        now_ms: now + 9_000,
        ..Append::default()
    };
    processes
        .store
        .append(execution.id(), fence, release)
        .await
        .unwrap();
    assert_eq!(answered.settled().await.unwrap().status(), Status::Paused);
    assert_eq!(
        processes.went_on(&answered).await.status(),
        Status::Completed
    );
}

flow_law::law! {
    nodes: [Discount, pay],
    flows: [
        Sale,
    ],
    left_out: [Tags],
}
