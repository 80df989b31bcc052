//! A process that has none of the flows looks into the database of one that has them, and answers.

use std::time::{Duration, Instant};

use flow_durable::{Execution, ListOptions, Runtime, RuntimeError, Status};
use flow_survivor::{LEASE, expected_questions};
use serde_json::json;

use crate::database::{Server, block_on};
use crate::support::{Outcome, Place, check_journal};

/// For how long the other process may be busy.
const PATIENCE: Duration = Duration::from_secs(60);

const ROUNDS: u64 = 6;

/// The only execution, once there is one.
async fn only(runtime: &Runtime) -> Outcome<Option<Execution>> {
    let listed = runtime.all_owners().list(ListOptions::new()).await?;
    assert!(listed.len() < 2 && listed.damaged().is_empty());
    Ok(listed.into_iter().next())
}

/// Answers until the execution is over. Returns how many answers were taken.
async fn answer_all(runtime: &Runtime) -> Outcome<u64> {
    let began = Instant::now();
    let mut answered = 0;
    while began.elapsed() < PATIENCE {
        tokio::time::sleep(Duration::from_millis(5)).await;
        let Some(execution) = only(runtime).await? else {
            continue;
        };
        if execution.status().is_over() {
            return Ok(answered);
        }
        for question in execution.questions().await? {
            let wrong = runtime
                .executions()
                .resume(question.token(), json!({ "Yes": { "bonus": -1 } }));
            match wrong.await {
                Err(RuntimeError::WrongType { expected, .. }) => assert_eq!(expected, "GoOn"),
                // The other process is about to take the answer before.
                Err(RuntimeError::AlreadyAnswered { .. }) => continue,
                other => return Err(format!("{other:?}").into()),
            }
            let answer = json!({ "Yes": { "bonus": 1000 } });
            runtime
                .executions()
                .resume(question.token(), answer)
                .await?;
            answered += 1;
        }
    }
    Err("the execution did not end".into())
}

#[test]
fn answers_come_from_a_process_that_has_none_of_the_flows() -> Outcome {
    for server in [Some(Server::Sqlite), Server::postgres(), Server::redis()] {
        server.map_or(Ok(()), answered_from_elsewhere)?;
    }
    Ok(())
}

fn answered_from_elsewhere(server: Server) -> Outcome {
    let place = Place::new(server)?;
    let keys = ["asked".to_owned()];
    let mut process = place.spawn_with("asks", LEASE, ROUNDS, &keys, "no")?;
    let journal = block_on(async {
        let runtime = Runtime::new(place.database().store().await?);
        assert_eq!(answer_all(&runtime).await?, expected_questions(ROUNDS));
        let execution = only(&runtime).await?.ok_or("it is gone")?;
        assert_eq!(execution.status(), Status::Completed, "{execution:?}");
        Ok(execution.journal().await?)
    })?;
    assert!(process.succeeds()?);
    check_journal(&journal, ROUNDS);
    Ok(())
}
