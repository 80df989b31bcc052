//! One attempt at an invocation: drives a flow by the journal that the server sends.
//!
//! The order of the journal's entries has to be the same each time. The flow is polled until
//! nothing wakes it; then all that it wants is opened, sorted; then one completion is delivered.

use std::collections::{BTreeMap, HashMap};
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use flow_runtime::engine::{AnyFlow, Run, RunError, Saved, accepted_input};
use flow_runtime::{RunId, RunOptions};
use restate_sdk_shared_core::{
    AwaitResponse, CoreVM, Error, Input, NonEmptyValue, NotificationHandle, PayloadOptions,
    RetryPolicy, RunExitResult, State, UnresolvedFuture, VM, Value,
};

use crate::connection::Connection;
use crate::engine::{LARGEST, OnRestate};
use crate::history::Invocation;
use crate::operations::{Operations, Refused, Request, Said};
use crate::unacknowledged::Unacknowledged;

/// After so many rounds, other tasks of the thread get their turn.
const ROUNDS: u32 = 64;

/// The work of the flow.
type Work<'a> = Pin<Box<dyn Future<Output = Result<Saved, RunError>> + Send + 'a>>;

/// Runs the flow as far as it gets: to its end, until the invocation is suspended, or until the
/// connection is gone.
pub(crate) async fn run(
    flow: &dyn AnyFlow<OnRestate>,
    options: RunOptions,
    vm: CoreVM,
    connection: Connection,
    input: Input,
    unacknowledged: Unacknowledged,
) {
    let id: Arc<str> = Arc::from(input.invocation_id);
    let number = RunId::new(input.random_seed);
    let operations = Operations::default();
    let mut attempt = Attempt {
        vm,
        connection,
        operations: operations.clone(),
        invocation: id.clone(),
        unacknowledged,
        open: BTreeMap::new(),
        steps: HashMap::new(),
    };
    let output = match read(flow, &input.input) {
        Ok(input) => {
            let history = Arc::new(Invocation { id });
            let run = Run::with_history(number, options, history);
            let engine = OnRestate::new(run, operations);
            let work = flow_runtime::engine::run_any(flow, &engine, input);
            attempt.drive(&mut (Box::pin(work) as Work<'_>)).await
        }
        Err(refused) => Ok(Err(refused)),
    };
    let ended = output.and_then(|output| Ok(attempt.end(output)?));
    if !matches!(ended, Err(Stopped::Broken)) {
        // The journal has told the server of an error, and of a suspension.
        attempt.connection.flush(&mut attempt.vm);
    }
}

/// The input of the flow.
fn read(flow: &dyn AnyFlow<OnRestate>, input: &[u8]) -> Result<Saved, Refused> {
    let refused = |message| Refused { code: 400, message };
    let value = serde_json::from_slice(input)
        .map_err(|error| refused(format!("the input is not JSON: {error}")))?;
    accepted_input(flow, value).map_err(|error| refused(format!("the input does not fit: {error}")))
}

/// Why an attempt is over before the flow.
enum Stopped {
    /// The journal has told the server: of an error, or that the invocation is suspended.
    Told,
    /// The connection is gone.
    Broken,
}

impl From<Error> for Stopped {
    fn from(_: Error) -> Self {
        Stopped::Told
    }
}

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

/// An attempt at an invocation.
struct Attempt {
    vm: CoreVM,
    connection: Connection,
    operations: Operations,
    invocation: Arc<str>,
    unacknowledged: Unacknowledged,
    /// The open operations by the handle that the journal has for them.
    open: BTreeMap<NotificationHandle, u64>,
    /// The open steps by operation.
    steps: HashMap<u64, (NotificationHandle, Arc<str>)>,
}

impl Attempt {
    async fn drive(&mut self, work: &mut Work<'_>) -> Result<Result<Saved, Refused>, Stopped> {
        let task = poll_fn(|cx| Poll::Ready(cx.waker().clone())).await;
        self.operations.set_task(task.clone());
        let is_woken = AtomicBool::new(true);
        let woken = Arc::new(Woken { is_woken, task });
        let mut rounds = 0;
        loop {
            self.operations
                .set_replaying(self.vm.state() == State::Replaying);
            self.operations.wake_deferred();
            if let Some(output) = poll_until_quiet(work, &woken) {
                let failed = |error: RunError| {
                    let (code, message) = (500, format!("{error:#}"));
                    Refused { code, message }
                };
                return Ok(output.map_err(failed));
            }
            if let Some(refused) = self.operations.failure() {
                return Ok(Err(refused));
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
            self.connection.flush(&mut self.vm);
            let operations = &self.operations;
            let can_go_on = || woken.is_woken.load(Ordering::Acquire) || operations.has_deferred();
            if !self.connection.feed(&mut self.vm, can_go_on).await {
                return Err(Stopped::Broken);
            }
        }
    }

    fn open_wanted(&mut self) -> Result<(), Error> {
        for (id, name, request) in self.operations.take_wanted() {
            let handle = match request {
                Request::Step => {
                    let step = Arc::from(&*name);
                    let handle = self.vm.sys_run(name)?.handle;
                    self.steps.insert(id, (handle, step));
                    handle
                }
                Request::Sleep(duration) => {
                    let now = since_epoch();
                    self.vm
                        .sys_sleep(name, now.saturating_add(duration), Some(now))?
                }
                Request::Promise => self.vm.sys_get_promise(name)?,
                // A prompt may differ when the flow runs again; the first one counts.
                Request::Settle(value) => self.vm.sys_complete_promise(
                    name,
                    NonEmptyValue::Success(value),
                    PayloadOptions::unstable_serialization(),
                )?,
            };
            self.open.insert(handle, id);
        }
        Ok(())
    }

    fn propose(&mut self) -> Result<(), Error> {
        for (id, outcome) in self.operations.take_proposed() {
            if let Some((handle, step)) = self.steps.get(&id) {
                self.unacknowledged
                    .keep(&self.invocation, step, outcome.clone());
                propose(&mut self.vm, *handle, outcome)?;
            }
        }
        Ok(())
    }

    /// Delivers one completion, or has one step run. Returns false if the journal has nothing more
    /// to give.
    fn deliver(&mut self) -> Result<bool, Error> {
        let operations = &self.operations;
        self.open.retain(|_, id| operations.is_awaited(*id));
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

    /// Has a step run, unless an attempt before has run it here.
    fn begin(&mut self, handle: NotificationHandle) -> Result<(), Error> {
        let Some(id) = self.open.get(&handle) else {
            return Ok(());
        };
        let kept = self
            .steps
            .get(id)
            .and_then(|(_, step)| self.unacknowledged.get(&self.invocation, step));
        match kept {
            Some(outcome) => propose(&mut self.vm, handle, outcome)?,
            None => self.operations.say(*id, Said::Run),
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
        let value = match self.vm.take_notification(handle)? {
            Some(Value::Success(value)) => value,
            // The end of a timer, or a promise that is settled, perhaps by somebody else before.
            _ => Bytes::new(),
        };
        if let Some(id) = self.open.remove(&handle) {
            if let Some((_, step)) = self.steps.remove(&id) {
                self.unacknowledged.forget(&self.invocation, &step);
            }
            self.operations.say(id, Said::Done(value));
        }
        Ok(true)
    }

    fn end(&mut self, output: Result<Saved, Refused>) -> Result<(), Error> {
        for (_, step) in self.steps.values() {
            self.unacknowledged.forget(&self.invocation, step);
        }
        let value = match output.and_then(written) {
            Ok(text) => NonEmptyValue::Success(text),
            Err(refused) => NonEmptyValue::Failure(refused.into()),
        };
        self.vm
            .sys_write_output(value, PayloadOptions::stable_serialization())?;
        self.vm.sys_end()
    }
}

fn written(output: Saved) -> Result<Bytes, Refused> {
    let refused = |message| Refused { code: 500, message };
    let text = serde_json::to_vec(&output.into_json())
        .map_err(|error| refused(format!("the output is not JSON: {error}")))?;
    if text.len() > LARGEST {
        return Err(refused(format!(
            "the output has {} bytes, and Restate takes {LARGEST} at most: keep large values \
             elsewhere, and return where they are",
            text.len()
        )));
    }
    Ok(Bytes::from(text))
}

fn propose(vm: &mut CoreVM, handle: NotificationHandle, outcome: Bytes) -> Result<(), Error> {
    let result = RunExitResult::Success(outcome);
    vm.propose_run_completion(handle, result, RetryPolicy::Infinite)
}

fn since_epoch() -> Duration {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.unwrap_or(Duration::ZERO)
}

/// Polls the flow until nothing wakes it any more, or until it ends.
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
