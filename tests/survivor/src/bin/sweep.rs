//! Runs one of the twelve flows until it is over, and looks back at it: `sweep STORE FLOW
//! SNAPSHOT_EVERY [prune]`. It dies, or is stopped, at the call of the store that `DIE` or `STOP`
//! says, such as `before 7`. Prints what came of it, and how many calls there were.

use std::error::Error;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use flow_durable::{
    DurableFlow, Execution, ListOptions, Runtime, RuntimeError, RuntimeOptions, StartOptions,
    Status,
};
use flow_survivor::ledger::{Ledger, LedgerInput, create_table};
use flow_survivor::mortal::{Fate, Mortal};
use flow_survivor::ten::*;
use flow_survivor::{SHORT_LEASE, note_line, store_at};
use serde_json::{Value, json};

/// How often somebody looks whether they are asked.
const LOOK_EVERY: Duration = Duration::from_millis(15);

type Outcome<T = ()> = Result<T, Box<dyn Error + Send + Sync>>;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Outcome {
    let mut arguments = std::env::args().skip(1);
    let place = arguments.next().ok_or("no store")?;
    let flow = arguments.next().ok_or("no flow")?;
    let every: NonZeroUsize = arguments.next().ok_or("no number of records")?.parse()?;
    let store = Arc::new(Mortal::new(store_at(&place).await?, Fate::from_env()?));
    let mut options = RuntimeOptions::new()
        .take_overs(u32::MAX)
        .lease(SHORT_LEASE)
        .snapshot_every(every);
    if arguments.next().is_some() {
        options = options.prune_history();
    }
    let runtime = Runtime::with_options(store.clone(), options);
    let seen = match &*flow {
        "rounds" => {
            let input = RoundsInput {
                number: 2,
                rounds: 0,
            };
            live(&runtime, Rounds::new(), input).await?
        }
        "forks" => {
            let input = ForksInput {
                number: 1,
                report: String::new(),
            };
            live(&runtime, Forks::new(), input).await?
        }
        "fails" => live(&runtime, Fails::new(), FailsInput { number: 1 }).await?,
        "items" => {
            let items = vec![0, 1, 3, 4, 5, 6];
            live(&runtime, Items::new(), ItemsInput { items }).await?
        }
        "tries" => live(&runtime, Tries::new(), TriesInput { number: 1 }).await?,
        "impatient" => live(&runtime, Impatient::new(), ImpatientInput { number: 1 }).await?,
        "nested" => live(&runtime, Nested::new(), NestedInput { number: 1 }).await?,
        "waits" => live(&runtime, Waits::new(), WaitsInput { number: 1 }).await?,
        "party" => {
            let input = PartyInput {
                number: 1,
                guests: ["Ben", "Cid", "Dan"].map(str::to_owned).into(),
                guest: "Eve".to_owned(),
            };
            live(&runtime, Party::new(), input).await?
        }
        "interview" => live(&runtime, Interview::new(), InterviewInput { number: 1 }).await?,
        "parts" => {
            let input = PartsInput {
                number: 1,
                items: (0..7).collect(),
                bad: vec![99, 13, 99],
            };
            live(&runtime, Parts::new(), input).await?
        }
        "ledger" => {
            create_table(&place).await?;
            live(&runtime, Ledger::new(), LedgerInput { number: 0 }).await?
        }
        other => return Err(format!("there is no flow `{other}`").into()),
    };
    let calls = store.calls();
    println!("{}", json!({ "calls": calls, "seen": seen }));
    Ok(())
}

/// Completes the execution and its copies, and says what came of them.
async fn live<F: DurableFlow>(runtime: &Runtime, flow: F, input: F::Input) -> Outcome<Value> {
    runtime.register(flow)?;
    runtime.recover().await?;
    let options = StartOptions::new().idempotency_key("swept");
    let execution = runtime.executions().start::<F>(input, options).await?;
    let execution = over(runtime, execution).await?;
    let ended = ending(&execution)?;

    // Of a history that is pruned, these are what is left.
    let journal = execution.journal().await?;
    let middle = journal.get(journal.len() / 2).ok_or("no journal")?;
    let last = journal.last().ok_or("no journal")?;
    runtime
        .executions()
        .state(execution.id(), middle.seq)
        .await?;
    let state = runtime.executions().state(execution.id(), last.seq).await?;
    let state = serde_json::to_value(&state.flows)?;

    // It is never over before a copy of it is: those of processes that died are completed too.
    if copies(runtime, &execution).await?.is_empty() {
        runtime
            .executions()
            .copy(execution.id(), middle.seq)
            .await?;
    }
    let mut of_copies = Vec::new();
    for copy in copies(runtime, &execution).await? {
        of_copies.push(ending(&over(runtime, copy).await?)?);
    }
    // Nobody waits for those that are ended.
    for part in runtime.executions().list(ListOptions::new()).await?.iter() {
        over(runtime, part.clone()).await?;
    }
    of_copies.dedup();
    Ok(json!({ "ended": ended, "copies": of_copies, "state": without_signature(state) }))
}

/// The copies of an execution, which are not the parts of its loops.
async fn copies(runtime: &Runtime, execution: &Execution) -> Outcome<Vec<Execution>> {
    let all = runtime.executions().list(ListOptions::new()).await?;
    let others = all.iter().filter(|other| other.id() != execution.id());
    Ok(others
        .filter(|other| other.part_of().is_none())
        .cloned()
        .collect())
}

/// How an execution ended.
fn ending(execution: &Execution) -> Outcome<Value> {
    Ok(json!({
        "status": execution.status().as_str(),
        "output": execution.output_json()?,
        "reason": execution.reason(),
    }))
}

/// The same without what says which answer it was: another one each time.
fn without_signature(mut value: Value) -> Value {
    match &mut value {
        Value::Object(map) => {
            map.remove("by");
            let inner = std::mem::take(map).into_iter();
            *map = inner
                .map(|(key, value)| (key, without_signature(value)))
                .collect();
        }
        Value::Array(items) => {
            *items = std::mem::take(items)
                .into_iter()
                .map(without_signature)
                .collect();
        }
        _ => {}
    }
    value
}

/// Answers what is asked until the execution is over. Who is asked in a flow with a timeout is asked while the run goes on.
async fn over(runtime: &Runtime, mut execution: Execution) -> Outcome<Execution> {
    let mut asked = 0;
    loop {
        let settled = tokio::time::timeout(LOOK_EVERY, execution.settled()).await;
        if let Ok(settled) = settled {
            execution = settled?;
            if execution.status() != Status::Paused {
                return Ok(execution);
            }
        }
        let mut answered = false;
        for question in execution.questions().await? {
            asked += 1;
            let by = format!("{}-{asked}-{}", std::process::id(), question.token());
            let Some(value) = answer(question.prompt(), &by) else {
                continue;
            };
            match runtime.executions().resume(question.token(), value).await {
                Ok(_) => {
                    answered = true;
                    note_line(&json!({ "accepted": by }))?;
                }
                // It was asked when it was looked up, and may have been dropped since.
                Err(
                    RuntimeError::AlreadyAnswered { .. }
                    | RuntimeError::Withdrawn { .. }
                    | RuntimeError::Expired { .. }
                    | RuntimeError::Over { .. },
                ) => {}
                Err(error) => return Err(error.into()),
            }
        }
        if !answered && execution.status() == Status::Paused {
            // The time of what nobody answers has to be over.
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }
}
