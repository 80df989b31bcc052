//! Runs executions of the survivor until they are completed: `survivor STORE LEASE_MS ROUNDS KEY…`.
//! Where one asks, it answers, unless the variable `ANSWERS` is `no`.

use std::error::Error;
use std::time::Duration;

use flow_durable::{Execution, Runtime, RuntimeError, StartOptions, Status};
use flow_survivor::{GoOn, Survivor, SurvivorInput, runtime};

type Outcome = Result<(), Box<dyn Error + Send + Sync>>;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Outcome {
    let mut arguments = std::env::args().skip(1);
    let place = arguments.next().ok_or("no store")?;
    let lease = Duration::from_millis(arguments.next().ok_or("no lease")?.parse()?);
    let rounds = arguments.next().ok_or("no rounds")?.parse()?;
    let runtime = runtime(&place, lease).await?;
    runtime.recover().await?;
    let mut executions = Vec::new();
    for key in arguments {
        let input = SurvivorInput {
            rounds,
            round: 0,
            total: 0,
        };
        let options = StartOptions::new().idempotency_key(key);
        executions.push(
            runtime
                .executions()
                .start::<Survivor>(input, options)
                .await?,
        );
    }
    let completing: Vec<_> = executions
        .into_iter()
        .map(|execution| tokio::spawn(complete(runtime.clone(), execution)))
        .collect();
    for completing in completing {
        completing.await??;
    }
    println!("completed");
    Ok(())
}

/// Waits until it is completed, and answers what it asks.
async fn complete(runtime: Runtime, mut execution: Execution) -> Outcome {
    loop {
        execution = execution.settled().await?;
        match execution.status() {
            Status::Completed => return Ok(()),
            Status::Paused | Status::Running => {}
            status => {
                return Err(
                    format!("{} is {status}: {:?}", execution.id(), execution.reason()).into(),
                );
            }
        }
        let answers = std::env::var_os("ANSWERS").is_none_or(|answers| answers != "no");
        for question in execution.questions().await?.iter().filter(|_| answers) {
            match runtime
                .executions()
                .resume(question.token(), GoOn::Yes { bonus: 1000 })
                .await
            {
                Ok(_) | Err(RuntimeError::AlreadyAnswered { .. } | RuntimeError::Over { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}
