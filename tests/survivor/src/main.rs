//! Runs executions of the survivor until they are completed: `survivor FILE LEASE_MS ROUNDS KEY…`. Where one asks, it answers.

use std::error::Error;
use std::path::PathBuf;
use std::time::Duration;

use flow_runtime::durable::{Execution, Runtime, RuntimeError, StartOptions, Status};
use flow_survivor::{GoOn, Survivor, SurvivorInput, runtime};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let file = PathBuf::from(arguments.next().ok_or("no file")?);
    let lease = Duration::from_millis(arguments.next().ok_or("no lease")?.parse()?);
    let rounds = arguments.next().ok_or("no rounds")?.parse()?;
    let runtime = runtime(&file, lease).await?;
    runtime.recover().await?;
    let mut executions = Vec::new();
    for key in arguments {
        let input = SurvivorInput {
            rounds,
            round: 0,
            total: 0,
        };
        let options = StartOptions::new().idempotency_key(key);
        executions.push(runtime.start::<Survivor>(input, options).await?);
    }
    for execution in executions {
        complete(&runtime, execution).await?;
    }
    println!("completed");
    Ok(())
}

/// Waits until it is completed, and answers what it asks.
async fn complete(runtime: &Runtime, mut execution: Execution) -> Result<(), Box<dyn Error>> {
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
        for question in execution.questions().await? {
            match runtime
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
