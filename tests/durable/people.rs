//! Several questions at once: beside other work, for items, in flows in flows.

use std::num::NonZeroUsize;
use std::time::Duration;

use flow_durable::{
    Execution, OpenQuestion, Record, RecordKind, Runtime, RuntimeError, StartOptions, Status, Token,
};
use flow_runtime::prelude::*;
use serde_json::{Value, json};

use crate::effects::Tardy;
use crate::flows::{Name, Party, PartyInput, take_effects};
use crate::stores::Faulty;
use crate::support::{outcomes, pass, runtime, settled, store};

#[node(writes = before)]
fn before(number: &u64) -> u64 {
    number + 1
}

#[node(writes = beside)]
async fn beside(before: &u64) -> u64 {
    tokio::time::sleep(Duration::from_secs(1)).await;
    before * 10
}

#[node(writes = after)]
async fn after(beside: &u64) -> u64 {
    tokio::time::sleep(Duration::from_secs(1)).await;
    beside + 5
}

#[node(writes = joined)]
fn join(name: &Name, after: &u64) -> String {
    format!("{} and {after}", name.name)
}

flow! {
    Beside(number: u64) -> (joined: String) {
        start >> before >> [Name, beside >> after] >> join >> end;
    }
}

/// AF-13, A-034, D-32
#[tokio::test(start_paused = true)]
async fn the_branches_beside_a_person_are_done_before_the_run_pauses() {
    let store = store();
    let first = runtime(store.clone(), Beside::new());
    let started = first
        .executions()
        .start::<Beside>(BesideInput { number: 1 }, StartOptions::new())
        .await
        .unwrap();
    pass(Duration::from_millis(500)).await;
    let asking = started.refreshed().await.unwrap();
    assert_eq!(asking.status(), Status::Running);
    assert_eq!(asking.questions().await.unwrap().len(), 1);

    let execution = started.settled().await.unwrap();
    assert_eq!(execution.status(), Status::Paused);
    let done: Vec<String> = outcomes(&execution.journal().await.unwrap())
        .into_keys()
        .collect();
    assert_eq!(
        done,
        ["beside.before", "beside.fork.after", "beside.fork.beside"]
    );
    let token = execution.questions().await.unwrap()[0].token();
    first.shut_down().await;

    let second = runtime(store, Beside::new());
    let answer = Name { name: "Ann".into() };
    let execution = second
        .executions()
        .resume(token, answer)
        .await
        .unwrap()
        .settled()
        .await
        .unwrap();
    let output = execution.output::<Beside>().unwrap().unwrap();
    assert_eq!(output.joined, "Ann and 25");
    assert!(
        outcomes(&execution.journal().await.unwrap())
            .values()
            .all(|count| *count == 1)
    );
}

/// AF-13, D-30
#[tokio::test(start_paused = true)]
async fn a_person_takes_no_place_of_those_that_work() {
    let runtime = runtime(store(), Beside::new());
    let options = StartOptions::new().concurrency(NonZeroUsize::MIN);
    let started = runtime
        .executions()
        .start::<Beside>(BesideInput { number: 1 }, options)
        .await
        .unwrap();
    let execution = started.settled().await.unwrap();
    assert_eq!(execution.status(), Status::Paused);
    let done = outcomes(&execution.journal().await.unwrap());
    assert!(done.contains_key("beside.fork.after"), "{done:?}");
    let token = execution.questions().await.unwrap()[0].token();
    let execution = answer(&runtime, token, json!({ "name": "Ann" })).await;
    assert_eq!(
        execution.output::<Beside>().unwrap().unwrap().joined,
        "Ann and 25"
    );
}

/// AF-13
#[tokio::test(start_paused = true)]
async fn an_answer_that_comes_while_others_still_work_waits_for_them() {
    let runtime = runtime(store(), Beside::new());
    let started = runtime
        .executions()
        .start::<Beside>(BesideInput { number: 1 }, StartOptions::new())
        .await
        .unwrap();
    pass(Duration::from_millis(500)).await;
    let token = started.questions().await.unwrap()[0].token();
    let answered = runtime
        .executions()
        .resume(token, json!({ "name": "Ann" }))
        .await
        .unwrap();
    pass(Duration::from_millis(100)).await;
    let journal = answered.journal().await.unwrap();
    assert!(
        journal
            .iter()
            .any(|record| record.kind == RecordKind::Resumed)
    );
    assert!(
        outcomes(&journal)
            .keys()
            .all(|step| step == "beside.before")
    );
    let error = runtime
        .executions()
        .resume(token, json!({ "name": "Bo" }))
        .await
        .unwrap_err();
    assert!(
        matches!(error, RuntimeError::AlreadyAnswered { .. }),
        "{error}"
    );
    let execution = answered.settled().await.unwrap();
    assert_eq!(
        execution.output::<Beside>().unwrap().unwrap().joined,
        "Ann and 25"
    );
}

/// An answer is looked for twice in a second; one that came in this process is used when it comes.
#[tokio::test(start_paused = true)]
async fn an_answer_in_the_same_process_is_used_at_once_though_others_still_work() {
    let runtime = runtime(store(), Beside::new());
    let started = runtime
        .executions()
        .start::<Beside>(BesideInput { number: 1 }, StartOptions::new());
    let started = started.await.unwrap();
    pass(Duration::from_millis(700)).await;
    let token = started.questions().await.unwrap()[0].token();
    let answered = runtime
        .executions()
        .resume(token, json!({ "name": "Ann" }))
        .await;
    pass(Duration::from_millis(50)).await;
    let journal = answered.unwrap().journal().await.unwrap();
    let resumed = |record: &Record| record.kind == RecordKind::Resumed;
    assert!(journal.iter().any(resumed));
}

/// The question about somebody.
fn about<'a>(questions: &'a [OpenQuestion], who: &str) -> &'a OpenQuestion {
    let found = questions
        .iter()
        .find(|question| question.prompt().contains(who));
    found.unwrap_or_else(|| panic!("nobody asks about {who}: {questions:?}"))
}

async fn answer(runtime: &Runtime, token: Token, answer: Value) -> Execution {
    runtime
        .executions()
        .resume(token, answer)
        .await
        .unwrap()
        .settled()
        .await
        .unwrap()
}

/// AF-13
#[tokio::test(start_paused = true)]
async fn several_questions_are_answered_in_any_order_and_anywhere() {
    let store = store();
    let first = runtime(store.clone(), Party::new());
    let input = PartyInput {
        number: 1,
        guests: ["Ben", "Cid", "Dan"].map(str::to_owned).into(),
        guest: "Eve".to_owned(),
    };
    let execution = settled::<Party>(&first, input).await;
    let questions = execution.questions().await.unwrap();
    assert_eq!(questions.len(), 1);
    let execution = answer(
        &first,
        about(&questions, "number 1").token(),
        json!({ "name": "Ann" }),
    )
    .await;
    let questions = execution.questions().await.unwrap();
    let asked: Vec<_> = questions
        .iter()
        .map(|question| (question.path(), question.prompt()))
        .collect();
    assert_eq!(
        asked,
        [
            ("party.coming[0]", "Does Ben come?"),
            ("party.coming[1]", "Does Cid come?")
        ],
        "two at once"
    );
    assert_ne!(questions[0].token(), questions[1].token());
    assert_eq!(questions[1].step(), "party.coming[1]");
    let (ben, cid) = (questions[0].token(), questions[1].token());
    drop(first);
    take_effects();

    let second = runtime(store.clone(), Party::new());
    let execution = answer(&second, cid, json!("No")).await;
    assert_eq!(execution.status(), Status::Paused);
    let questions = execution.questions().await.unwrap();
    let asked: Vec<_> = questions.iter().map(OpenQuestion::path).collect();
    assert_eq!(asked, ["party.coming[0]", "party.coming[2]"]);
    assert_eq!(about(&questions, "Ben").token(), ben);
    let execution = answer(
        &second,
        about(&questions, "Dan").token(),
        json!({ "Yes": { "with": 0 } }),
    )
    .await;
    assert_eq!(execution.status(), Status::Paused);
    second.shut_down().await;

    let third = runtime(store, Party::new());
    let execution = answer(&third, ben, json!({ "Yes": { "with": 2 } })).await;
    let questions = execution.questions().await.unwrap();
    assert_eq!(questions.len(), 1);
    assert_eq!(questions[0].path(), "party.late.late");
    let execution = answer(
        &third,
        questions[0].token(),
        json!({ "Yes": { "with": 1 } }),
    )
    .await;
    assert_eq!(
        execution.output_json().unwrap(),
        Some(json!({ "count": 10, "end": "default" }))
    );
    let steps: Vec<String> = take_effects()
        .iter()
        .map(|id| id.split_once('/').unwrap().1.to_owned())
        .collect();
    assert_eq!(steps, ["party.count"], "what was done is not done again");
}

#[node]
async fn fails(after_ms: &u64) -> Result<(), String> {
    tokio::time::sleep(Duration::from_millis(*after_ms)).await;
    Err("out of order".into())
}

flow! {
    Broken(number: u64, after_ms: u64) -> () {
        node both: [Name, fails];
        start >> both >> end;
        both - "error" >> Named >> end("named");
    }
}

/// Asks once more.
#[derive(Debug, Clone, serde::Serialize, serde::Deserialize)]
#[node(human = "Go on?")]
struct Named {
    yes: bool,
}

/// D-31
#[tokio::test(start_paused = true)]
async fn a_question_is_closed_when_another_branch_fails() {
    let runtime = runtime(store(), Broken::new());
    let input = BrokenInput {
        number: 1,
        after_ms: 1000,
    };
    let started = runtime
        .executions()
        .start::<Broken>(input, StartOptions::new())
        .await
        .unwrap();
    pass(Duration::from_millis(500)).await;
    let asked = started.questions().await.unwrap();
    assert_eq!(asked.len(), 1);
    let execution = started.settled().await.unwrap();
    assert_eq!(execution.status(), Status::Paused);
    let questions = execution.questions().await.unwrap();
    let paths: Vec<_> = questions.iter().map(OpenQuestion::path).collect();
    assert_eq!(paths, ["broken.named"]);
    let error = runtime
        .executions()
        .resume(asked[0].token(), json!({ "name": "Ann" }))
        .await
        .unwrap_err();
    assert!(
        matches!(&error, RuntimeError::Withdrawn { path, .. } if path == "broken.name"),
        "{error}"
    );
    let execution = answer(&runtime, questions[0].token(), json!({ "yes": true })).await;
    assert_eq!(
        execution.output::<Broken>().unwrap().unwrap().end,
        BrokenEnd::Named
    );
}

/// The other branch fails before the question is in the store. Whoever answers it nevertheless, as one can who read its
/// token in the store, is refused, and does not wake the run again and again.
#[tokio::test(start_paused = true)]
async fn a_question_is_closed_when_another_branch_fails_while_it_is_being_stored() {
    let shared = store();
    let runtime = runtime(Faulty::new(&shared, Tardy), Broken::new());
    let input = BrokenInput {
        number: 1,
        after_ms: 500,
    };
    let execution = settled::<Broken>(&runtime, input).await;
    assert_eq!(execution.status(), Status::Paused);
    let questions = execution.questions().await.unwrap();
    let paths: Vec<_> = questions.iter().map(OpenQuestion::path).collect();
    assert_eq!(paths, ["broken.named"]);
    let execution = answer(&runtime, questions[0].token(), json!({ "yes": true })).await;
    assert_eq!(
        execution.output::<Broken>().unwrap().unwrap().end,
        BrokenEnd::Named
    );
}

flow_law::law! {
    nodes: [before, beside, after, join, fails, Named, Name],
    flows: [
        Beside,
        Broken,
    ],
}
