//! One process: it recovers, starts the case's execution unless that has been done, and answers
//! questions until the execution is over or the process is stopped.

use std::num::NonZeroUsize;
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use flow_durable::{
    Execution, ExecutionId, ListOptions, OpenQuestion, RecordKind, Runtime, RuntimeError,
    RuntimeOptions, SignalOptions, StartOptions,
};
use futures_util::future::{Either, select};
use serde_json::{Value, json};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use crate::Simulated;
use crate::backend::{Backend, Stored};
use crate::case::{Case, Stop, StopKind};
use crate::clock::Wall;
use crate::ledger;
use crate::meanwhile::Meanwhile;
use crate::store::Fragile;
use crate::versions::Version;
use crate::world::{Given, hashed, world};

/// How long a process keeps its executions after it has died.
pub(crate) const LEASE: Duration = Duration::from_secs(60);

/// How often somebody looks at the execution and its questions, and how often when nothing has
/// happened for long.
const LOOK: Duration = Duration::from_secs(4);
const SELDOM: Duration = Duration::from_secs(90);

/// Why somebody cancels an execution.
pub(crate) const CANCELLED: &str = "it was decided so";

/// How long an undisturbed execution takes at most.
const LONGEST: Duration = Duration::from_secs(200 * 3600);

/// What outlives the processes of a case.
pub(crate) struct Machine {
    pub(crate) stored: Stored,
    /// The clock on the wall.
    clock: Arc<Wall>,
    /// How many processes there have been.
    pub(crate) processes: usize,
}

impl Machine {
    pub(crate) fn new(backend: Backend) -> Self {
        Machine {
            stored: Stored::new(backend),
            clock: Arc::new(Wall::at(1_800_000_000_000)),
            processes: 0,
        }
    }

    /// The same store in a world that has this clock.
    pub(crate) fn beside(stored: Stored, clock: Wall) -> Self {
        Machine {
            stored,
            clock: Arc::new(clock),
            processes: 0,
        }
    }

    /// What its clock shows.
    pub(crate) fn now(&self) -> SystemTime {
        self.clock.read()
    }

    /// Runs a process until what it works at is done, or it is stopped. Returns what came of it, if
    /// it is done.
    pub(crate) fn process(
        &mut self,
        case: &Case,
        (flow, version): (Simulated, Version),
        work: Work,
        stop: Option<Stop>,
    ) -> Option<Done> {
        self.processes += 1;
        let begins = format!("process {}", self.processes - 1);
        world(|world| world.runs.push(begins));
        let tokio = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build();
        let tokio = match tokio {
            Ok(tokio) => tokio,
            Err(error) => unreachable!("a tokio runtime without I/O can be built: {error}"),
        };
        let freeze = case
            .freeze
            .filter(|freeze| freeze.process + 1 == self.processes);
        let done = tokio.block_on(async {
            let wall = self.clock.clone();
            wall.goes_from(Instant::now());
            world(|world| world.is_changed = matches!(version, Version::Changed(_)));
            let clock = {
                let wall = wall.clone();
                move || wall.read()
            };
            let meanwhile = freeze.map(|freeze| Meanwhile {
                freeze,
                stored: self.stored.clone(),
                clock: wall.clone(),
                case: case.clone(),
                flow,
                work,
            });
            let store = Arc::new(Fragile::new(self.stored.clone(), stop, meanwhile, case));
            let runtime = Runtime::with_options(store.clone(), options(case).clock(clock));
            if let Err(error) = flow.register(&runtime, version) {
                unreachable!("it is the only flow: {error}");
            }
            let done = {
                let asked = case.moves.then_some(&*wall);
                let work = pin!(work.run(&runtime, (flow, version), asked, case, &store));
                match select(work, pin!(store.stopped.notified())).await {
                    Either::Left((done, _)) => Some(done),
                    Either::Right(_) => None,
                }
            };
            if stop.is_some_and(|stop| stop.kind == StopKind::ShutDown) {
                let shut_down = tokio::time::timeout(LONGEST, runtime.shut_down()).await;
                if shut_down.is_err() {
                    world(|world| {
                        world
                            .violations
                            .push("`shut_down` never returned".to_owned())
                    });
                }
            }
            wall.stays();
            done
        });
        drop(tokio);
        done.flatten()
    }
}

fn options(case: &Case) -> RuntimeOptions {
    // A case may stop every process at the same record.
    let options = RuntimeOptions::new().lease(LEASE).take_overs(u32::MAX);
    let options = match NonZeroUsize::new(case.snapshot_every) {
        Some(records) => options.snapshot_every(records),
        None => options,
    };
    if case.prune {
        options.prune_history()
    } else {
        options
    }
}

/// What came of what a process was there for.
pub(crate) enum Done {
    /// The execution is over.
    Over(Box<Execution>),
    /// Somebody has removed it.
    Deleted,
    /// The process cannot continue it, since its flow is another version.
    Refused(Refused),
}

/// What a version of the flow cannot continue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refused {
    /// The execution.
    Whole,
    /// A part of a loop, without which the execution does not end. Others go on.
    Part,
}

/// What a process is there for.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Work {
    /// To start an execution with this input, unless it has been started, and see it to its end.
    Start(u64),
    /// To go on from a record of an execution, and see that to its end.
    Copy(ExecutionId, u64),
    /// To try an execution again that has failed, unless that has been done, and see it to its end.
    Retry(ExecutionId),
}

impl Work {
    async fn run(
        self,
        runtime: &Runtime,
        (flow, version): (Simulated, Version),
        moves: Option<&Wall>,
        case: &Case,
        store: &Fragile,
    ) -> Option<Done> {
        if case.busy {
            tokio::spawn(recover_again(runtime.clone()));
        }
        while let Err(error) = runtime.recover().await {
            expected(&error, "recover");
            tokio::time::sleep(LOOK).await;
        }
        let id = match self {
            Work::Start(input) => loop {
                let options = StartOptions::new().idempotency_key("case");
                match flow.start(runtime, input, options, version).await {
                    Ok(execution) => break execution.id(),
                    Err(error) => expected(&error, "start"),
                }
                tokio::time::sleep(LOOK).await;
            },
            Work::Copy(id, seq) => {
                if let Err(error) = runtime.executions().state(id, seq).await {
                    expected(&error, "state");
                }
                match copy(runtime, id, seq).await {
                    Ok(execution) => execution.id(),
                    Err(error) => {
                        expected(&error, "copy");
                        return None;
                    }
                }
            }
            Work::Retry(id) => {
                retry(runtime, id).await?;
                id
            }
        };
        let cancelled = case.cancelled.filter(|_| matches!(self, Work::Start(_)));
        see_to_its_end(runtime, id, moves, (case, cancelled), store).await
    }
}

/// Tries an execution again, once. `None` if it cannot be retried.
async fn retry(runtime: &Runtime, id: ExecutionId) -> Option<()> {
    loop {
        let journal = match runtime.executions().get(id).await {
            Ok(execution) => execution.journal().await,
            Err(error) => Err(error),
        };
        match journal {
            Ok(journal) if journal.iter().any(|it| it.kind == RecordKind::RunRetried) => {
                return Some(());
            }
            Ok(_) => match runtime.executions().retry(id).await {
                Ok(_) => return Some(()),
                Err(RuntimeError::NotRetried { .. }) => return None,
                Err(error) => expected(&error, "retry"),
            },
            Err(error) => expected(&error, "journal"),
        }
        tokio::time::sleep(LOOK).await;
    }
}

/// Goes on from a record of an execution: every second time with the values that it has there, from
/// the beginning of the node at which it is.
async fn copy(runtime: &Runtime, id: ExecutionId, seq: u64) -> Result<Execution, RuntimeError> {
    if seq % 2 == 1
        && let Some(values) = runtime
            .executions()
            .state(id, seq)
            .await?
            .flows
            .into_values()
            .next()
    {
        match runtime.executions().copy_with(id, seq, values).await {
            // At the end of the flow, and where the state is already that after a node.
            Err(RuntimeError::Unchangeable { .. }) => {}
            copied => return copied,
        }
    }
    runtime.executions().copy(id, seq).await
}

/// Answers questions until an execution is over, and continues it if it is halted because something
/// could not be undone. If it is to be removed, that is done when the time has come, or when it is
/// over. It is cancelled when it has so many records.
async fn see_to_its_end(
    runtime: &Runtime,
    id: ExecutionId,
    moves: Option<&Wall>,
    (case, cancelled): (&Case, Option<u64>),
    store: &Fragile,
) -> Option<Done> {
    let began = Instant::now();
    let mut watcher = case.busy.then(|| tokio::spawn(over(runtime.clone(), id)));
    let mut round = 0_u64;
    while began.elapsed() < LONGEST {
        match refused(runtime, id).await {
            Some(Refused::Part) => return Some(Done::Refused(Refused::Part)),
            Some(Refused::Whole) => {
                // Nor does it take an answer, whoever gives it.
                if let Ok(execution) = runtime.executions().get(id).await {
                    for question in execution.questions().await.unwrap_or_default() {
                        answer(runtime, &question, round, moves).await;
                    }
                }
                return Some(Done::Refused(Refused::Whole));
            }
            None => {}
        }
        let found = runtime.executions().get(id).await;
        if case.deleted.is_some() && matches!(found, Err(RuntimeError::NotFound(_))) {
            // Another process has removed it.
            return delete(runtime, id).await;
        }
        if let Ok(execution) = found {
            if execution.status().is_over() {
                if let Some(watcher) = &mut watcher
                    && !returns(watcher).await
                {
                    let violation = "it is over, and `settled` has not returned";
                    world(|world| world.violations.push(violation.to_owned()));
                }
                return match case.deleted {
                    Some(_) => delete(runtime, id).await,
                    None => Some(Done::Over(Box::new(execution))),
                };
            }
            if let Some(reason) = execution.halted()
                && is_not_undone(&execution, reason)
                && hashed(&(round, "continue")).is_multiple_of(2)
                && let Err(error) = runtime.executions().retry(id).await
            {
                expected(&error, "retry");
            }
            if let Ok(Err(error)) = tokio::time::timeout(Duration::ZERO, execution.settled()).await
            {
                expected(&error, "settled");
            }
            for question in execution.questions().await.unwrap_or_default() {
                answer(runtime, &question, round, moves).await;
            }
            send(runtime, &execution, round).await;
        }
        if cancelled.is_some_and(|records| is_time_to_cancel(id, records)) {
            cancel(runtime, id).await;
        }
        round += 1;
        let idle = began.elapsed() > LOOK * 30;
        let pause = if idle { SELDOM } else { LOOK };
        tokio::select! {
            biased;
            () = store.deletion.notified() => return delete(runtime, id).await,
            () = store.cancellation.notified(), if cancelled.is_some() => {}
            () = tokio::time::sleep(pause) => {}
        }
    }
    world(|world| {
        world
            .violations
            .push(format!("execution {id} does not end"))
    });
    None
}

/// Returns true if an execution is halted because something could not be undone. The reason says what,
/// unless the answer of the store came so late that more has happened.
fn is_not_undone(execution: &Execution, reason: &str) -> bool {
    let id = execution.id();
    let is_not_undone = reason.contains("was not undone");
    let count = world(|world| world.journals.get(&id).map_or(0, |it| it.len() as u64));
    let is_late = execution.record_count() < count;
    if is_not_undone && !is_late && !ledger::says_what_is_open(id, reason) {
        let violation = format!("it is halted, and does not say what is open: {reason}");
        world(|world| world.violations.push(violation));
    }
    is_not_undone
}

fn is_time_to_cancel(id: ExecutionId, records: u64) -> bool {
    world(|world| {
        let journal = world.journals.get(&id);
        !world.is_cancelled && journal.is_some_and(|journal| journal.len() as u64 >= records)
    })
}

async fn cancel(runtime: &Runtime, id: ExecutionId) {
    match runtime.executions().cancel(id, CANCELLED).await {
        Ok(_) | Err(RuntimeError::Over { .. }) => world(|world| world.is_cancelled = true),
        Err(error) => expected(&error, "cancel"),
    }
}

/// Recovers all the time, also while an earlier look still waits for an answer of the store. So the
/// process may claim an execution again that it has claimed and not begun yet.
async fn recover_again(runtime: Runtime) {
    loop {
        tokio::time::sleep(LEASE / 4).await;
        let runtime = runtime.clone();
        tokio::spawn(async move {
            if let Err(error) = runtime.recover().await {
                expected(&error, "recover");
            }
        });
    }
}

/// Returns when an execution is over or gone, as somebody knows who waits for it all the time.
async fn over(runtime: Runtime, id: ExecutionId) {
    loop {
        match runtime.executions().get(id).await {
            Ok(execution) => {
                let settled = execution.settled().await;
                if settled.is_ok_and(|execution| execution.status().is_over()) {
                    return;
                }
            }
            Err(RuntimeError::NotFound(_)) => return,
            Err(_) => {}
        }
        tokio::time::sleep(LOOK).await;
    }
}

/// Returns true if a task ends within three leases, without those in which an answer of the store
/// came late: it needs several answers.
async fn returns(task: &mut JoinHandle<()>) -> bool {
    for _ in 0..8 {
        let late = world(|world| world.late_answers);
        if tokio::time::timeout(3 * LEASE, &mut *task).await.is_ok() {
            return true;
        }
        if world(|world| world.late_answers) == late {
            return false;
        }
    }
    false
}

/// Removes an execution. Nothing of it is left then, not even when all that was under way is over.
async fn delete(runtime: &Runtime, id: ExecutionId) -> Option<Done> {
    world(|world| world.is_deleted = true);
    loop {
        match runtime.executions().delete(id).await {
            Ok(()) | Err(RuntimeError::NotFound(_)) => break,
            Err(error) => expected(&error, "delete"),
        }
        tokio::time::sleep(LOOK).await;
    }
    tokio::time::sleep(3 * LEASE).await;
    let left = loop {
        match runtime.executions().list(ListOptions::new()).await {
            Ok(left) => break left,
            Err(error) => expected(&error, "list"),
        }
        tokio::time::sleep(LOOK).await;
    };
    // Another process may have started one anew meanwhile.
    let is_of_it = |left: &&Execution| left.id() == id || left.part_of() == Some(id);
    for left in left.iter().filter(is_of_it) {
        world(|world| {
            let violation = format!("execution {id} is removed, and left {}", left.id());
            world.violations.push(violation);
        });
    }
    Some(Done::Deleted)
}

/// Answers a question if it is time to, and if anybody wants to. If the clock moves, the time to
/// answer may be over between two readings of it.
async fn answer(runtime: &Runtime, question: &OpenQuestion, round: u64, moves: Option<&Wall>) {
    let step = question.step().to_owned();
    let never = question.expires_at().is_some() && hashed(&(&step, "never")).is_multiple_of(3);
    if never || hashed(&(&step, round, "not now")).is_multiple_of(3) {
        return;
    }
    if let (Some(wall), Some(expires)) = (moves, question.expires_at()) {
        wall.jump(hashed(&(&step, round, "reading")) % 12, expires);
    }
    let value = hashed(&(&step, "answer")) % 1000;
    let answer = json!({ "value": value });
    let answered = runtime.executions().resume(question.token(), answer).await;
    let given = Given {
        execution: question.execution(),
        step,
        value,
    };
    match answered {
        Ok(_) => world(|world| world.accepted.push(given)),
        Err(RuntimeError::Expired { .. }) => world(|world| world.late.push(given)),
        Err(
            RuntimeError::AlreadyAnswered { .. }
            | RuntimeError::Withdrawn { .. }
            | RuntimeError::Over { .. },
        ) => {}
        Err(error) => expected(&error, "resume"),
    }
}

/// Sends signals if it is time to, of those for which the flow waits. What another process may have
/// sent before it was stopped is sent again, and counts once.
async fn send(runtime: &Runtime, execution: &Execution, round: u64) {
    let id = execution.id();
    for (name, one_in) in [("Tell", 2), ("TellSoon", 30), ("Poke", 4)] {
        if !hashed(&(name, round, "now")).is_multiple_of(one_in) {
            continue;
        }
        let count = world(|world| world.sent.get(&(id, name)).copied().unwrap_or_default());
        let options = SignalOptions::new().idempotency_key(format!("{name} {count}"));
        let body = told(name, count);
        let executions = runtime.executions();
        match executions.signal_json(id, name, body, options).await {
            // Another process may have sent the same one meanwhile.
            Ok(_) => world(|world| {
                let sent = world.sent.entry((id, name)).or_default();
                *sent = (*sent).max(count + 1);
            }),
            Err(RuntimeError::Signal { .. } | RuntimeError::Over { .. }) => {}
            Err(error) => expected(&error, "signal"),
        }
    }
}

/// The body of a signal of this name, after so many of it.
pub(crate) fn told(name: &str, count: u64) -> Value {
    match name {
        "Poke" => Value::Null,
        name => json!({ "value": hashed(&(name, count, "signal")) % 1000 }),
    }
}

/// What of an execution another version of the flow keeps from going on, if it does.
async fn refused(runtime: &Runtime, id: ExecutionId) -> Option<Refused> {
    let mut found = None;
    for (refused, error) in runtime.refused().await.unwrap_or_default() {
        if !is_refusal(&error) {
            continue;
        }
        if refused == id {
            return Some(Refused::Whole);
        }
        let part = runtime.executions().get(refused).await;
        if part.is_ok_and(|part| part.part_of() == Some(id)) {
            found = Some(Refused::Part);
        }
    }
    found
}

/// Returns true if another version of the flow is the reason.
fn is_refusal(error: &RuntimeError) -> bool {
    matches!(
        error,
        RuntimeError::FlowChanged { .. } | RuntimeError::ReplayDiverged { .. }
    )
}

/// Only what was made to fail may fail, and what looks at an execution that is removed.
fn expected(error: &RuntimeError, what: &str) {
    let expected = matches!(
        error,
        RuntimeError::Store { .. }
            | RuntimeError::TakenOver(_)
            | RuntimeError::ShutDown(_)
            | RuntimeError::NoRecord { .. }
    );
    let is_gone = matches!(
        error,
        RuntimeError::NotFound(_) | RuntimeError::UnknownToken
    );
    // Whoever looks at its end sees that too.
    let is_not_undone = error.to_string().contains("was not undone");
    world(|world| {
        let is_expected = is_not_undone && !world.refusals.is_empty()
            || expected
            || is_gone && world.is_deleted
            || is_refusal(error) && world.is_changed;
        if !is_expected {
            let violation = format!("`{what}` failed: {error}");
            world.violations.push(violation);
        }
    });
}
