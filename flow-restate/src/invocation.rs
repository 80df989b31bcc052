//! One attempt at a part of a run, which drives a flow by the journal of the server.
//!
//! The order of the journal's entries has to be the same each time. The flow is polled until
//! nothing wakes it. Then all wanted operations are opened, sorted; then one completion is
//! delivered.

use std::collections::{BTreeMap, HashMap};
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use flow_runtime::engine::{AnyFlow, RunError, Saved};
use restate_sdk_shared_core::{
    AwaitResponse, CoreVM, Error, NonEmptyValue, NotificationHandle, PayloadOptions, RetryPolicy,
    RunExitResult, State, UnresolvedFuture, VM, Value,
};

use crate::connection::Connection;
use crate::continued::RunFacts;
use crate::engine::OnRestate;
use crate::operations::{Kind, Left, Operations, Request, Said};
use crate::question::Settled;
use crate::stopped::{Refused, Stopped};
use crate::unacknowledged::Unacknowledged;

/// The number of bytes of outcomes and answers after which a run continues in a new invocation: all
/// of them are in memory while it is replayed.
const BYTES: u64 = 64 * 1024 * 1024;

/// The length of an invocation's journal. Each replay has to reach the limit at the same entry.
#[derive(Debug)]
struct Length {
    /// The maximum number of entries. With the largest number, no journal is long.
    limit: u64,
    entries: u64,
    /// The bytes that the journal has delivered.
    bytes: u64,
    /// The entries and bytes after which it is long.
    long_after: (u64, u64),
}

impl Length {
    fn new(limit: u64) -> Self {
        let mut length = Length {
            limit,
            entries: 0,
            bytes: 0,
            long_after: (0, 0),
        };
        length.stay();
        length
    }

    fn is_long(&self) -> bool {
        let (entries, bytes) = self.long_after;
        self.limit < u64::MAX && (self.entries > entries || self.bytes > bytes)
    }

    /// Raises the limit: the journal is long again once it has grown by as much again.
    fn stay(&mut self) {
        let entries = self.entries.saturating_add(self.limit);
        self.long_after = (entries, self.bytes.saturating_add(BYTES));
    }
}

/// The number of rounds after which other tasks of the thread get their turn.
const ROUNDS: u32 = 64;

/// The work of the flow.
type Work<'a> = Pin<Box<dyn Future<Output = Result<Saved, RunError>> + Send + 'a>>;

/// Notes that something has woken the flow, and wakes the task.
struct Woken {
    is_woken: AtomicBool,
    task: Waker,
}

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.is_woken.store(true, Ordering::Release);
        self.task.wake_by_ref();
    }
}

/// The way in which a flow was left.
pub(crate) enum Ended {
    Output(Saved),
    Left(Left),
}

/// An attempt at a part of a run.
pub(crate) struct Attempt<'a> {
    pub(crate) vm: &'a mut CoreVM,
    pub(crate) connection: &'a mut Connection,
    operations: Operations,
    /// The id of the run.
    run: Arc<str>,
    unacknowledged: Unacknowledged,
    /// The open operations by the handle that the journal has for them.
    open: BTreeMap<NotificationHandle, Open>,
    /// The handles of the open operations, by their ids.
    handles: HashMap<u64, NotificationHandle>,
    /// Once the journal is long, the flow is left where nothing is under way.
    length: Length,
}

/// An operation that is open.
struct Open {
    id: u64,
    kind: Kind,
    name: Arc<str>,
}

impl<'a> Attempt<'a> {
    pub(crate) fn new(
        vm: &'a mut CoreVM,
        connection: &'a mut Connection,
        operations: Operations,
        run: &RunFacts,
        unacknowledged: Unacknowledged,
    ) -> Self {
        Attempt {
            vm,
            connection,
            operations,
            run: Arc::from(&*run.id),
            unacknowledged,
            open: BTreeMap::new(),
            handles: HashMap::new(),
            length: Length::new(run.entries),
        }
    }

    /// Drives the flow until it is left, the invocation is suspended, or the connection is gone.
    pub(crate) async fn run(
        &mut self,
        flow: &dyn AnyFlow<OnRestate>,
        engine: &OnRestate,
        input: Saved,
    ) -> Result<Ended, Stopped> {
        let mut work: Work<'_> = Box::pin(flow_runtime::engine::run_any(flow, engine, input));
        let ended = self.drive(&mut work).await;
        drop(work);
        if let Err(Stopped::Refused(refused)) = &ended
            && self.operations.take_failure()
        {
            engine.tell_failed(refused);
        }
        if !matches!(ended, Err(Stopped::Again)) {
            self.withdraw_unasked()?;
        }
        ended
    }

    async fn drive(&mut self, work: &mut Work<'_>) -> Result<Ended, Stopped> {
        let task = poll_fn(|cx| Poll::Ready(cx.waker().clone())).await;
        self.operations.set_task(task.clone());
        let is_woken = AtomicBool::new(true);
        let woken = Arc::new(Woken { is_woken, task });
        let mut rounds = 0;
        loop {
            self.operations
                .set_replaying(self.vm.state() == State::Replaying);
            self.operations.set_full(self.length.is_long());
            self.operations.wake_deferred();
            let output = poll_until_quiet(work, &woken);
            if self.operations.take_stays() {
                self.length.stay();
            }
            if let Some(refused) = self.operations.failure() {
                return Err(refused.into());
            }
            if let Some(left) = self.operations.take_left() {
                return Ok(Ended::Left(left));
            }
            if let Some(output) = output {
                return ended(output);
            }
            self.open_wanted()?;
            self.propose()?;
            rounds += 1;
            if rounds % ROUNDS == 0 {
                tokio::task::yield_now().await;
            }
            if self.deliver()? {
                continue;
            }
            self.connection.flush(self.vm);
            let operations = &self.operations;
            let can_go_on = || woken.is_woken.load(Ordering::Acquire) || operations.has_deferred();
            if !self.connection.feed(self.vm, can_go_on).await {
                return Err(Stopped::Again);
            }
        }
    }

    fn open_wanted(&mut self) -> Result<(), Error> {
        for (id, name, request) in self.operations.take_wanted() {
            let open = Open {
                id,
                kind: request.kind(),
                name: Arc::from(&*name),
            };
            let handle = match request {
                Request::Step => self.vm.sys_run(name)?.handle,
                Request::Sleep(duration) => {
                    let now = since_epoch();
                    self.vm
                        .sys_sleep(name, now.saturating_add(duration), Some(now))?
                }
                Request::Promise => self.vm.sys_get_promise(name)?,
                Request::Settle(value) => self.settle(name, value)?,
            };
            self.length.entries += 1;
            self.handles.insert(id, handle);
            self.open.insert(handle, open);
        }
        self.withdraw_unasked()
    }

    /// Settles the questions that are no longer asked, so that answers are refused.
    fn withdraw_unasked(&mut self) -> Result<(), Error> {
        for name in self.operations.take_unasked() {
            // It does not matter if it is settled already.
            self.length.entries += 1;
            self.settle(name, Bytes::from_static(Settled::WITHDRAWN))?;
        }
        Ok(())
    }

    fn settle(&mut self, name: String, value: Bytes) -> Result<NotificationHandle, Error> {
        // A prompt may differ when the flow runs again; the first one counts.
        let options = PayloadOptions::unstable_serialization();
        self.vm
            .sys_complete_promise(name, NonEmptyValue::Success(value), options)
    }

    fn propose(&mut self) -> Result<(), Error> {
        for (id, outcome) in self.operations.take_proposed() {
            if let Some(handle) = self.handles.get(&id)
                && let Some(step) = self.open.get(handle)
            {
                self.unacknowledged
                    .keep(&self.run, &step.name, outcome.clone());
                propose(self.vm, *handle, outcome)?;
            }
        }
        Ok(())
    }

    /// Delivers one completion, or starts one step. Returns false if the journal has nothing more
    /// to deliver.
    fn deliver(&mut self) -> Result<bool, Error> {
        for id in self.operations.take_withdrawn() {
            if let Some(handle) = self.handles.remove(&id) {
                self.open.remove(&handle);
            }
        }
        let open = self
            .open
            .keys()
            .copied()
            .map(UnresolvedFuture::Single)
            .collect();
        match self.vm.do_await(UnresolvedFuture::FirstCompleted(open))? {
            AwaitResponse::AnyCompleted => self.take_completed(),
            AwaitResponse::ExecuteRun(handle) => {
                self.begin(handle)?;
                Ok(true)
            }
            AwaitResponse::CancelSignalReceived => {
                self.operations.fail(Refused::cancelled());
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    /// Starts a step, unless an earlier attempt has run it here.
    fn begin(&mut self, handle: NotificationHandle) -> Result<(), Error> {
        let Some(step) = self.open.get(&handle) else {
            return Ok(());
        };
        match self.unacknowledged.get(&self.run, &step.name) {
            Some(outcome) => propose(self.vm, handle, outcome)?,
            None => self.operations.say(step.id, Said::Run),
        }
        Ok(())
    }

    fn take_completed(&mut self) -> Result<bool, Error> {
        // All open operations are awaited, so the journal stops at the first that is completed.
        let completed = self
            .open
            .keys()
            .copied()
            .find(|handle| self.vm.is_completed(*handle));
        let Some(handle) = completed else {
            return Ok(false);
        };
        let Some(value) = self.vm.take_notification(handle)? else {
            return Ok(false);
        };
        if let Some(open) = self.open.remove(&handle) {
            self.handles.remove(&open.id);
            if open.kind == Kind::Step {
                self.unacknowledged.forget(&self.run, &open.name);
            }
            match said(&open, value) {
                Ok(value) => {
                    self.length.bytes += value.len() as u64;
                    self.operations.say(open.id, Said::Done(value));
                }
                Err(refused) => self.operations.fail(refused),
            }
        }
        Ok(true)
    }
}

fn ended(output: Result<Saved, RunError>) -> Result<Ended, Stopped> {
    match output {
        Ok(output) => Ok(Ended::Output(output)),
        // The input fitted the version of the flow with which the run began.
        Err(RunError::Input(error)) => Ok(Ended::Left(Left::Unreadable(error.to_string()))),
        Err(error) => {
            let (code, message) = (500, format!("{error:#}"));
            Err(Refused { code, message }.into())
        }
    }
}

/// The value that the flow gets from a completed operation.
fn said(open: &Open, value: Value) -> Result<Bytes, Refused> {
    match (open.kind, value) {
        (Kind::Step | Kind::Promise, Value::Success(value)) => Ok(value),
        // Settling a promise fails if somebody else has settled it before.
        (Kind::Sleep, Value::Void) | (Kind::Settle, Value::Void | Value::Failure(_)) => {
            Ok(Bytes::new())
        }
        (_, Value::Failure(failure)) => Err(Refused {
            code: failure.code,
            message: format!("the server fails `{}`: {}", open.name, failure.message),
        }),
        (_, value) => {
            let kind: &'static str = (&value).into();
            let (code, message) = (
                500,
                format!(
                    "the journal has a value of the wrong kind for `{}`: {kind}",
                    open.name
                ),
            );
            Err(Refused { code, message })
        }
    }
}

pub(crate) fn propose(
    vm: &mut CoreVM,
    handle: NotificationHandle,
    outcome: Bytes,
) -> Result<(), Error> {
    let result = RunExitResult::Success(outcome);
    vm.propose_run_completion(handle, result, RetryPolicy::Infinite)
}

fn since_epoch() -> Duration {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.unwrap_or(Duration::ZERO)
}

/// Polls the flow until nothing wakes it, or until it ends.
fn poll_until_quiet(work: &mut Work<'_>, woken: &Arc<Woken>) -> Option<Result<Saved, RunError>> {
    let waker = Waker::from(woken.clone());
    let mut cx = Context::from_waker(&waker);
    while woken.is_woken.swap(false, Ordering::AcqRel) {
        if let Poll::Ready(output) = work.as_mut().poll(&mut cx) {
            return Some(output);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use restate_sdk_shared_core::TerminalFailure;

    use super::*;

    fn failure() -> Value {
        Value::Failure(TerminalFailure {
            code: 409,
            message: "it is too late".to_owned(),
            metadata: Vec::new(),
        })
    }

    #[test]
    fn a_journal_is_long_again_after_as_much_once_more() {
        let mut length = Length::new(2);
        length.entries = 2;
        assert!(!length.is_long());
        length.entries = 3;
        assert!(length.is_long());
        length.stay();
        length.entries = 5;
        assert!(!length.is_long());
        length.bytes = BYTES + 1;
        assert!(length.is_long());
        length.stay();
        assert!(!length.is_long());
        length.entries = 8;
        assert!(length.is_long());
    }

    #[test]
    fn no_journal_is_long_without_a_limit() {
        let mut length = Length::new(u64::MAX);
        (length.entries, length.bytes) = (u64::MAX, u64::MAX);
        assert!(!length.is_long());
    }

    #[test]
    fn a_failure_is_a_failure_unless_a_promise_is_settled_twice() {
        let open = |kind| Open {
            id: 1,
            kind,
            name: Arc::from("flow.a"),
        };
        for kind in [Kind::Step, Kind::Sleep, Kind::Promise] {
            let refused = said(&open(kind), failure()).unwrap_err();
            assert_eq!(refused.code, 409);
            assert_eq!(refused.message, "the server fails `flow.a`: it is too late");
        }
        assert!(said(&open(Kind::Settle), failure()).is_ok());
        assert!(said(&open(Kind::Sleep), Value::Void).is_ok());
        let refused = said(&open(Kind::Step), Value::Void).unwrap_err();
        assert_eq!(
            refused.message,
            "the journal has a value of the wrong kind for `flow.a`: Void"
        );
    }
}
