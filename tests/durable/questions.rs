//! A question to a person: how it is asked, what is no answer to it, and what becomes of it.

use flow_durable::{Execution, Runtime, RuntimeError, StartOptions, Status, Token};
use flow_runtime::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::support::{assert_no_token, lines, minutes, pass, runtime, seen, settled, store};

/// Whether to deploy.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[node(human = "Deploy {version}?")]
pub(crate) enum Approval {
    Approved { by: String },
    Refused,
}

#[node(writes = report)]
pub(crate) fn deploy(version: &u32, by: &str) -> String {
    format!("{version} by {by}")
}

flow! {
    pub(crate) Release(version: u32) -> (report: Option<String>) {
        start >> Approval;
        Approval - "approved" >> deploy >> end;
        Approval - "refused" >> end("refused");
    }
}

pub(crate) fn approved() -> Approval {
    Approval::Approved { by: "Ann".into() }
}

async fn asked() -> (Runtime, Execution, Token) {
    let runtime = runtime(store(), Release::new());
    let execution = settled::<Release>(&runtime, ReleaseInput { version: 7 }).await;
    let token = execution.questions().await.unwrap()[0].token();
    (runtime, execution, token)
}

/// A-030, A-031, D-32
#[tokio::test(start_paused = true)]
async fn a_flow_pauses_at_a_question_and_goes_on_with_the_answer() {
    let (runtime, execution, token) = asked().await;
    assert_eq!(execution.status(), Status::Paused);
    assert_eq!(execution.output_json().unwrap(), None);
    let questions = execution.questions().await.unwrap();
    let [question] = &questions[..] else {
        panic!("{questions:?}")
    };
    assert_eq!(question.execution(), execution.id());
    assert_eq!(question.path(), "release.approval");
    assert_eq!(question.prompt(), "Deploy 7?");
    assert_eq!(question.expected(), "Approval");
    let schema = question.schema().unwrap();
    assert_eq!(schema["description"], "Whether to deploy.");
    assert_eq!(schema["oneOf"][1]["required"], json!(["Approved"]));
    assert_eq!(question.expires_at(), None);
    assert_eq!(question.asked_at(), execution.updated_at());
    let journal = lines(&execution.journal().await.unwrap());
    let asked = format!(
        r#"run_started release {{"version":7}}
node_started release.approval 
paused release.approval {{"prompt":"Deploy 7?","expected":"Approval","schema":{schema}}}
"#
    );
    assert_eq!(journal, asked);

    pass(minutes(60)).await;
    let resumed = runtime
        .executions()
        .resume(token, approved())
        .await
        .unwrap();
    let waited = resumed.updated_at().duration_since(execution.updated_at());
    assert_eq!(waited.unwrap(), minutes(60), "it is written that it runs");
    let execution = resumed.settled().await.unwrap();
    let output = execution.output::<Release>().unwrap().unwrap();
    assert_eq!(
        (output.report.as_deref(), output.end),
        (Some("7 by Ann"), ReleaseEnd::Default)
    );
    assert!(execution.questions().await.unwrap().is_empty());
    let journal = lines(&execution.journal().await.unwrap());
    let answered = r#"resumed release.approval {"answer":{"Approved":{"by":"Ann"}}}
node_finished release.approval approved
node_started release.deploy 
outcome release.deploy "7 by Ann"
node_finished release.deploy default
flow_ended release default
run_completed release {"report":"7 by Ann","end":"default"}
"#;
    assert_eq!(journal.strip_prefix(&*asked), Some(answered));
}

/// A-032, A-033, D-32
#[tokio::test(start_paused = true)]
async fn what_is_no_answer_changes_nothing() {
    let (runtime, execution, token) = asked().await;
    let before = seen(&runtime, execution.id()).await;
    assert_eq!(before.0, Status::Paused);

    let wrong: Token = "6c6bb9a6-7d76-4d4c-a7f1-1a2b3c4d5e6f".parse().unwrap();
    let error = runtime
        .executions()
        .resume(wrong, approved())
        .await
        .unwrap_err();
    assert!(matches!(error, RuntimeError::UnknownToken), "{error}");
    assert_no_token(&error, wrong);
    for (answer, reason) in [
        (json!("Perhaps"), "unknown variant `Perhaps`"),
        (json!({ "Approved": {} }), "missing field `by`"),
        (
            json!({ "Approved": { "by": 3 } }),
            "invalid type: integer `3`, expected a string",
        ),
        (json!(null), "invalid type: null"),
    ] {
        let error = runtime
            .executions()
            .resume(token, answer)
            .await
            .unwrap_err();
        let text = error.to_string();
        let RuntimeError::WrongType {
            execution: id,
            path,
            expected,
            reason: why,
        } = error
        else {
            panic!("{text}")
        };
        assert_eq!(id, execution.id());
        assert_eq!((&*path, &*expected), ("release.approval", "Approval"));
        assert!(why.contains(reason), "{why}");
        assert!(text.starts_with(&format!(
            "execution {id} at `release.approval` asks for a `Approval`"
        )));
    }
    let stranger = Runtime::new(store());
    let error = stranger
        .executions()
        .resume(token, approved())
        .await
        .unwrap_err();
    assert!(matches!(error, RuntimeError::UnknownToken), "{error}");
    assert_eq!(seen(&runtime, execution.id()).await, before);

    runtime
        .executions()
        .resume(token, approved())
        .await
        .unwrap()
        .settled()
        .await
        .unwrap();
}

/// A-032, A-035
#[tokio::test(start_paused = true)]
async fn a_question_is_answered_once() {
    let store = store();
    let runtime = runtime(store.clone(), Twice::new());
    let execution = settled::<Twice>(&runtime, TwiceInput { version: 7 }).await;
    let token = execution.questions().await.unwrap()[0].token();
    let execution = runtime
        .executions()
        .resume(token, Approval::Refused)
        .await
        .unwrap()
        .settled()
        .await
        .unwrap();
    let before = seen(&runtime, execution.id()).await;
    assert_eq!(before.0, Status::Paused);
    let second = before.2[0];
    assert_ne!(second, token);
    let error = runtime
        .executions()
        .resume(token, approved())
        .await
        .unwrap_err();
    let RuntimeError::AlreadyAnswered {
        execution: id,
        path,
    } = &error
    else {
        panic!("{error}")
    };
    assert_eq!((*id, &**path), (execution.id(), "twice.approval"));
    assert_no_token(&error, token);
    assert_eq!(seen(&runtime, execution.id()).await, before);

    let execution = runtime
        .executions()
        .resume(second, Approval::Refused)
        .await
        .unwrap()
        .settled()
        .await
        .unwrap();
    assert_eq!(execution.status(), Status::Completed);
    for token in [token, second] {
        let error = runtime
            .executions()
            .resume(token, approved())
            .await
            .unwrap_err();
        assert!(
            matches!(error, RuntimeError::Over { status: Status::Completed, execution: id } if id == execution.id()),
            "{error}"
        );
    }
}

flow! {
    Twice(version: u32) -> (report: Option<String>) {
        node again: human Approval;
        start >> Approval;
        Approval - "approved" >> deploy >> end;
        Approval - "refused" >> again;
        again - "approved" >> deploy;
        again - "refused" >> end("refused");
    }
}

#[tokio::test(start_paused = true)]
async fn of_twenty_answers_at_once_one_is_taken() {
    let (runtime, execution, token) = asked().await;
    let answers: Vec<_> = (0..20)
        .map(|index| {
            let runtime = runtime.clone();
            let answer = Approval::Approved {
                by: index.to_string(),
            };
            tokio::spawn(async move { runtime.executions().resume(token, answer).await })
        })
        .collect();
    let mut taken = Vec::new();
    for (index, answer) in answers.into_iter().enumerate() {
        match answer.await.unwrap() {
            Ok(_) => taken.push(index),
            Err(RuntimeError::AlreadyAnswered { .. } | RuntimeError::Over { .. }) => {}
            Err(error) => panic!("{error}"),
        }
    }
    assert_eq!(taken.len(), 1);
    let execution = runtime
        .executions()
        .get(execution.id())
        .await
        .unwrap()
        .settled()
        .await
        .unwrap();
    let report = execution.output::<Release>().unwrap().unwrap().report;
    assert_eq!(report, Some(format!("7 by {}", taken[0])));
    let answers = lines(&execution.journal().await.unwrap())
        .matches("resumed ")
        .count();
    assert_eq!(answers, 1);
}

#[tokio::test(start_paused = true)]
async fn a_paused_execution_can_be_cancelled() {
    let (runtime, execution, token) = asked().await;
    let cancelled = runtime
        .executions()
        .cancel(execution.id(), "cancelled")
        .await
        .unwrap();
    assert_eq!(
        (cancelled.status(), cancelled.reason()),
        (Status::Cancelled, Some("cancelled"))
    );
    let before = seen(&runtime, execution.id()).await;
    assert!(before.2.is_empty());
    assert!(lines(&before.1).ends_with("run_cancelled release cancelled\n"));
    let error = runtime
        .executions()
        .resume(token, approved())
        .await
        .unwrap_err();
    assert!(
        matches!(
            error,
            RuntimeError::Over {
                status: Status::Cancelled,
                ..
            }
        ),
        "{error}"
    );
    let error = runtime
        .executions()
        .cancel(execution.id(), "cancelled")
        .await
        .unwrap_err();
    assert!(
        matches!(
            error,
            RuntimeError::Over {
                status: Status::Cancelled,
                ..
            }
        ),
        "{error}"
    );
    assert!(runtime.recover().await.unwrap().resumed.is_empty());
    assert_eq!(seen(&runtime, execution.id()).await, before);
}

/// A-036
#[tokio::test(start_paused = true)]
async fn what_nobody_has_answered_for_long_can_be_expired() {
    let runtime = runtime(store(), Release::new());
    let start = async |version| {
        settled::<Release>(&runtime, ReleaseInput { version })
            .await
            .id()
    };
    let old = start(1).await;
    pass(minutes(50)).await;
    let new = start(2).await;
    pass(minutes(20)).await;
    let expired = runtime.executions().expire(minutes(60)).await.unwrap();
    assert_eq!(expired.iter().map(Execution::id).collect::<Vec<_>>(), [old]);
    let execution = runtime.executions().get(old).await.unwrap();
    assert_eq!(execution.status(), Status::Cancelled);
    assert_eq!(execution.reason(), Some("expired: nobody answered in time"));
    assert_eq!(
        runtime.executions().get(new).await.unwrap().status(),
        Status::Paused
    );
    assert!(
        runtime
            .executions()
            .expire(minutes(60))
            .await
            .unwrap()
            .is_empty()
    );
}

/// Flows are told apart by their names, and another one of a name has other inputs.
mod namesake {
    use flow_runtime::prelude::*;

    #[node]
    fn publish(version: &str) -> String {
        version.to_owned()
    }

    flow! {
        pub Release(version: String) -> (publish: String) {
            start >> publish >> end;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn the_registered_flow_takes_its_own_inputs_only() {
    let runtime = runtime(store(), Release::new());
    let input = namesake::ReleaseInput {
        version: "7".to_owned(),
    };
    let started = runtime
        .executions()
        .start::<namesake::Release>(input, StartOptions::new())
        .await;
    let error = started.unwrap_err();
    assert!(
        matches!(error, RuntimeError::OtherFlow { flow: "Release" }),
        "{error}"
    );
    let listed = runtime
        .executions()
        .list(flow_durable::ListOptions::new())
        .await
        .unwrap();
    assert_eq!(listed.len(), 0);
}

flow_law::law! {
    nodes: [Approval, deploy],
    flows: [
        Release,
        Twice,
    ],
}
