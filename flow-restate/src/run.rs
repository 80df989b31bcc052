//! The handlers `run` and `continue`: a run, from its first invocation to its last.
//!
//! The hard thing is that an endless loop must not have an endless journal. `run` begins the flow.
//! Once its journal is long, it calls `continue`, which calls `continue` repeatedly. Each of these
//! runs the flow until its own journal is long, and returns the place that the flow has reached.

use std::hash::{BuildHasher as _, RandomState};
use std::sync::Arc;
use std::time::SystemTime;

use bytes::Bytes;
use flow_runtime::RunId;
use flow_runtime::engine::{AnyFlow, Run, Saved, accepted_input, parse_json};
use restate_sdk_shared_core::{
    CoreVM, Input, NotificationHandle, PayloadOptions, Target, VM, Value,
};

use crate::connection::{Connection, no_step};
use crate::continued::{Between, Continued, HANDLER, RunFacts, Said, hash_of, written};
use crate::engine::OnRestate;
use crate::history::RunHistory;
use crate::invocation::{Attempt, Ended, propose};
use crate::operations::{Left, Operations};
use crate::options::Options;
use crate::stopped::{Refused, Stopped};
use crate::unacknowledged::Unacknowledged;

/// The maximum number of calls by one invocation of `continue`, which are entries of its journal.
const CALLS: u32 = 200;

/// The number of bytes sent and received after which it makes no further call: all of them are in
/// its journal.
const BYTES: usize = 16 * 1024 * 1024;

/// The maximum length in characters of the name of an entry that is for people.
const LONGEST_NAME: usize = 300;

/// An attempt at an invocation of `run` or `continue`.
pub(crate) struct Invocation<'a> {
    pub(crate) flow: &'a dyn AnyFlow<OnRestate>,
    pub(crate) options: Options,
    pub(crate) unacknowledged: Unacknowledged,
    pub(crate) vm: CoreVM,
    pub(crate) connection: Connection,
    /// The key of the workflow.
    pub(crate) key: String,
}

impl Invocation<'_> {
    /// Runs a flow to its end.
    pub(crate) async fn run(mut self, input: Input) {
        let output = self.output(&input).await;
        let output = output.and_then(|output| Ok(written("the output", &output.into_json())?));
        self.connection.end(&mut self.vm, output);
    }

    /// Continues a run.
    pub(crate) async fn go_on(mut self, input: &[u8]) {
        let said = match serde_json::from_slice::<Continued>(input) {
            Ok(told) if told.structure == hash_of(self.flow.structure()) => {
                self.go_on_from(told).await
            }
            Ok(_) => Ok(Said::OtherVersion(
                "the newest deployment has another structure of the flow".to_owned(),
            )),
            // Another version of this library may use another format.
            Err(error) => Ok(Said::OtherVersion(format!(
                "the newest deployment cannot read the call: {error}"
            ))),
        };
        let said = said.and_then(|said| Ok(said.written()?));
        self.connection.end(&mut self.vm, said);
    }

    async fn go_on_from(&mut self, told: Continued) -> Result<Said, Stopped> {
        if told.relays {
            return self.relay(told).await;
        }
        match self.part(&told.run, Some(told.between)).await? {
            Ended::Output(output) => Ok(Said::Output(output.into_json())),
            Ended::Left(Left::Between(between)) => Ok(Said::Between(between)),
            Ended::Left(Left::Unreadable(reason)) => Ok(Said::OtherVersion(format!(
                "the newest deployment cannot read the values of the run: {reason}"
            ))),
        }
    }

    async fn output(&mut self, input: &Input) -> Result<Saved, Stopped> {
        let run = self.begin(input).await?;
        let structure = hash_of(self.flow.structure());
        let mut from = None;
        loop {
            let between = match self.part(&run, from).await? {
                Ended::Output(output) => return Ok(output),
                Ended::Left(Left::Between(between)) => between,
                Ended::Left(Left::Unreadable(reason)) => return Err(unreadable(&reason).into()),
            };
            let mut told = Continued {
                structure,
                run: run.clone(),
                relays: true,
                between,
            };
            loop {
                match self.call(&told).await?.0 {
                    Said::Output(output) => return saved(output),
                    Said::Between(between) => told.between = between,
                    Said::OtherVersion(reason) => {
                        self.note(format!("goes on here: {reason}")).await?;
                        break;
                    }
                }
            }
            // The callee has the newest version of the flow. The run ends with its own.
            from = Some(told.between);
        }
    }

    /// Begins the run, whose number is the first entry of the journal. The id of the invocation is
    /// made from the flow and the key, so a later run with the same key has the same id.
    async fn begin(&mut self, input: &Input) -> Result<RunFacts, Stopped> {
        let Saved(values) = read(self.flow, &input.input)?;
        let handle = self.vm.sys_run("run".to_owned())?.handle;
        let (entries, steps) = (self.options.entries, self.options.step_budget);
        let random = |vm: &mut CoreVM, handle| {
            let number = RandomState::new().hash_one(SystemTime::now());
            // All attempts have to make the same entries, so they need the same limits.
            let facts = [number, entries, steps].map(u64::to_be_bytes).concat();
            propose(vm, handle, Bytes::from(facts))
        };
        let facts = self.connection.completed(&mut self.vm, handle, random);
        if let Value::Success(facts) = facts.await?
            && let (facts, []) = facts.as_chunks()
            && let [number, entries, steps] = *facts
        {
            let [number, entries, steps] = [number, entries, steps].map(u64::from_be_bytes);
            return Ok(RunFacts {
                id: format!("{}-{number:016x}", input.invocation_id),
                number,
                entries,
                steps,
                input: values,
            });
        }
        let message = "the first entry of the journal is not the number of a run".to_owned();
        Err(Refused { code: 500, message }.into())
    }

    /// Runs a flow until it ends or until the journal is long.
    async fn part(&mut self, run: &RunFacts, from: Option<Between>) -> Result<Ended, Stopped> {
        let operations = Operations::default();
        let history = Arc::new(RunHistory {
            id: Arc::from(&*run.id),
            operations: operations.clone(),
        });
        let options = self.options.of_run(run.steps, &operations);
        let engine = OnRestate::new(
            Run::with_history(RunId::new(run.number), options, history),
            operations.clone(),
            run.clone(),
            from,
        );
        let (vm, connection) = (&mut self.vm, &mut self.connection);
        let unacknowledged = self.unacknowledged.clone();
        let mut attempt = Attempt::new(vm, connection, operations, run, unacknowledged);
        let input = Saved(run.input.clone());
        attempt.run(self.flow, &engine, input).await
    }

    /// Calls `continue` repeatedly to continue a run.
    async fn relay(&mut self, mut told: Continued) -> Result<Said, Stopped> {
        told.relays = false;
        let mut bytes = 0;
        for call in 0..CALLS {
            match self.call(&told).await? {
                (Said::Between(between), size) => {
                    told.between = between;
                    bytes += size;
                    if bytes > BYTES {
                        break;
                    }
                }
                (Said::OtherVersion(_), _) if call > 0 => break,
                (said, _) => return Ok(said),
            }
        }
        Ok(Said::Between(told.between))
    }

    /// Calls `continue`. Returns its output, and the bytes that the call adds to the journal.
    async fn call(&mut self, told: &Continued) -> Result<(Said, usize), Stopped> {
        let target = Target {
            service: self.flow.name().to_owned(),
            handler: HANDLER.to_owned(),
            key: Some(self.key.clone()),
            idempotency_key: None,
            scope: None,
            limit_key: None,
            headers: Vec::new(),
        };
        // The order within a set may differ when the flow runs again; the first one counts.
        let options = PayloadOptions::unstable_serialization();
        let sent = told.written()?;
        let size = sent.len();
        let call = self.vm.sys_call(target, sent, None, options)?;
        let handle = call.call_notification_handle;
        let said = match self.wait_for(handle).await {
            Err(Stopped::Refused(cancelled)) => {
                // The call is cancelled as well, and first withdraws its questions.
                self.wait_for(handle).await?;
                return Err(cancelled.into());
            }
            said => said?,
        };
        let text = match said {
            Value::Success(text) => text,
            Value::Failure(failure) => return Err(Refused::from(failure).into()),
            other => {
                let kind: &'static str = (&other).into();
                let message = format!("`{HANDLER}` returns a value of the wrong kind: {kind}");
                return Err(Refused { code: 500, message }.into());
            }
        };
        match serde_json::from_slice(&text) {
            Ok(said) => Ok((said, size + text.len())),
            Err(error) => {
                let message = format!("what `{HANDLER}` returns cannot be read: {error}");
                Err(Refused { code: 500, message }.into())
            }
        }
    }

    /// Adds an entry of this name, for people who look at the journal.
    async fn note(&mut self, name: String) -> Result<(), Stopped> {
        // The error of a value may contain all of it.
        let name = name.chars().take(LONGEST_NAME).collect();
        let handle = self.vm.sys_run(name)?.handle;
        let nothing = |vm: &mut CoreVM, handle| propose(vm, handle, Bytes::from_static(b"{}"));
        let noted = self.connection.completed(&mut self.vm, handle, nothing);
        noted.await.map(drop)
    }

    async fn wait_for(&mut self, handle: NotificationHandle) -> Result<Value, Stopped> {
        self.connection
            .completed(&mut self.vm, handle, no_step)
            .await
    }
}

fn saved(output: serde_json::Value) -> Result<Saved, Stopped> {
    Saved::from_json(output).ok_or_else(|| {
        let message = format!("the output that `{HANDLER}` returns is not a JSON object");
        Refused { code: 500, message }.into()
    })
}

fn unreadable(reason: &str) -> Refused {
    let message = format!("the state with which the flow goes on cannot be read: {reason}");
    Refused { code: 500, message }
}

/// The input of the flow.
fn read(flow: &dyn AnyFlow<OnRestate>, input: &[u8]) -> Result<Saved, Refused> {
    let refused = |message| Refused { code: 400, message };
    let value =
        parse_json(input).map_err(|error| refused(format!("the input is not JSON: {error}")))?;
    accepted_input(flow, value).map_err(|error| refused(format!("the input does not fit: {error}")))
}
