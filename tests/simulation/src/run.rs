//! Runs a case: one process after the other, and some beside others, until the execution is over.
//!
//! A process is a tokio runtime whose clock stands still unless nothing else is to be done. It is gone when that is dropped. One
//! that is not polled for a while is a process that is stopped, and does not know it.

use std::collections::BTreeMap;
use std::future::Future;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, UNIX_EPOCH};

use flow_runtime::durable::{
    ExecutionId, ListQuery, PauseState, Record, Runtime, RuntimeError, RuntimeOptions,
    StartOptions, Status, Store,
};
use futures_util::FutureExt as _;
use tokio::time::Instant;

use crate::case::{Case, Mode, What};
use crate::flows::{Entry, FLOWS};
use crate::laws;
use crate::store::Seen;
use crate::world::{Accepted, BEGAN_MS, Stopped, Violation, World, hash_of, set_life};

const LEASE_MS: u64 = 3000;

/// How an execution ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ending {
    pub(crate) status: Status,
    pub(crate) result: Option<String>,
}

/// What came of a case.
#[derive(Debug)]
pub(crate) struct Report {
    pub(crate) violations: Vec<Violation>,
    pub(crate) known: Vec<Violation>,
    pub(crate) ending: Option<Ending>,
    pub(crate) history: Vec<Record>,
    pub(crate) inputs: BTreeMap<String, (u64, usize)>,
    pub(crate) trace: Vec<String>,
    /// How many calls of the store each process made.
    pub(crate) calls: Vec<u64>,
    /// After how long it was over.
    pub(crate) took_ms: u64,
    /// How often a node ran.
    pub(crate) runs: usize,
    pub(crate) lives: usize,
}

/// A process.
struct Process {
    life: usize,
    tokio: tokio::runtime::Runtime,
    runtime: Runtime,
    clock: Clock,
    began_ms: u64,
    /// How far its faults that have to do with time have been looked at.
    faults_from: u64,
}

/// The clock on the wall, as a process sees it.
#[derive(Clone)]
struct Clock {
    base_ms: Arc<AtomicU64>,
    began: Instant,
}

impl Clock {
    fn now_ms(&self) -> u64 {
        let passed = Instant::now().saturating_duration_since(self.began);
        self.base_ms.load(Ordering::Relaxed) + passed.as_millis() as u64
    }
}

/// Why a process is no longer driven.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Paused {
    /// The time is there.
    Time,
    Over,
    Stopped(Stopped),
}

struct Simulation {
    world: Arc<World>,
    entry: &'static Entry,
    lives: usize,
    execution: Option<ExecutionId>,
    /// The execution whose end is awaited, once it is started.
    awaited: Option<ExecutionId>,
    /// Whether processes go on when it is over.
    lingers: bool,
    /// How many calls of the store each process had made, and how late it was, when it was over.
    calls: Vec<u64>,
    over_ms: u64,
}

/// Runs a case, and checks the laws. `undisturbed` is what came of the same case without faults, where that has to be the same.
pub(crate) fn run(case: &Case, undisturbed: Option<&Report>, traced: bool) -> Report {
    let world = World::new(case, traced);
    let mut simulation = Simulation {
        world: world.clone(),
        entry: &FLOWS[case.flow],
        lives: 0,
        execution: None,
        awaited: None,
        lingers: false,
        calls: Vec::new(),
        over_ms: 0,
    };
    simulation.run();
    let state = world.state();
    let id = simulation.execution;
    let row = id.and_then(|id| row(&world, id));
    let seen = id
        .and_then(|id| state.executions.get(&id))
        .cloned()
        .unwrap_or_default();
    let report = Report {
        violations: Vec::new(),
        known: Vec::new(),
        ending: row.filter(|row| row.status.is_over()).map(|row| Ending {
            status: row.status,
            result: row.result,
        }),
        history: seen.history,
        inputs: state.inputs.clone(),
        trace: Vec::new(),
        calls: simulation.calls.clone(),
        took_ms: simulation.over_ms - BEGAN_MS,
        runs: seen.runs,
        lives: simulation.lives,
    };
    drop(state);
    laws::check(&world, &report, undisturbed);
    let mut state = world.state();
    Report {
        violations: std::mem::take(&mut state.violations),
        known: std::mem::take(&mut state.known),
        trace: std::mem::take(&mut state.trace),
        ..report
    }
}

fn row(world: &World, id: ExecutionId) -> Option<flow_runtime::durable::Row> {
    world.store.execution(id).now_or_never()?.ok()?
}

impl Simulation {
    fn run(&mut self) {
        let mut alive = vec![self.process()];
        let mut frozen: Vec<(u64, Process)> = Vec::new();
        let horizon = BEGAN_MS + 2 * self.entry.bound_ms + 60 * 60 * 1000;
        loop {
            let now = self.world.state().now_ms;
            if self.is_over() {
                break;
            }
            if now > horizon {
                self.world
                    .violated("no hang", "the execution does not end".to_owned());
                break;
            }
            if alive.is_empty() {
                let gap = hash_of(&[self.world.case.seed, 31, self.lives as u64]) % LEASE_MS;
                self.world.state().now_ms += gap;
                alive.push(self.process());
            }
            let now = self.world.state().now_ms;
            let (due, rest) = frozen.into_iter().partition(|(thaws, _)| *thaws <= now);
            frozen = rest;
            alive.extend(Vec::into_iter(due).map(|(_, process)| self.thaw(process)));
            let thaws = frozen
                .iter()
                .map(|(thaws, _)| *thaws)
                .min()
                .unwrap_or(horizon + 1);
            let slice = match alive.len() {
                1 => u64::MAX,
                _ => [1, 7, 50, 400][(hash_of(&[self.world.case.seed, 32, now]) % 4) as usize],
            };
            let until = now.saturating_add(slice).min(thaws);
            let mut still = Vec::new();
            for mut process in std::mem::take(&mut alive) {
                let fault = self.fault_of(&process);
                let fault_at = fault.map_or(u64::MAX, |(at, _)| at);
                if matches!(
                    self.drive(&mut process, until.min(fault_at)),
                    Paused::Stopped(Stopped::Crashed)
                ) {
                    self.end(process);
                    continue;
                }
                if self.world.stopped(process.life) == Some(Stopped::Frozen) {
                    let thaws = self.world.state().now_ms + self.frozen_for(process.life);
                    frozen.push((thaws, process));
                    continue;
                }
                let reached = self.world.state().now_ms;
                match fault {
                    Some((at, what)) if at <= reached => match self.fault(&mut process, at, what) {
                        Some(Stopped::Crashed) => self.end(process),
                        Some(Stopped::Frozen) => {
                            let thaws = self.world.state().now_ms + self.frozen_for(process.life);
                            frozen.push((thaws, process));
                        }
                        None => {
                            if what == What::Twin {
                                still.push(self.process());
                            }
                            still.push(process);
                        }
                    },
                    _ => still.push(process),
                }
            }
            alive = still;
        }
        {
            let state = self.world.state();
            (self.calls, self.over_ms) = (state.calls.clone(), state.now_ms);
        }
        // What wakes up too late, and what goes on when all is over, must do nothing.
        self.world.state().quiet = true;
        self.lingers = true;
        alive.extend(
            frozen
                .into_iter()
                .map(|(_, process)| process)
                .map(|process| self.thaw(process)),
        );
        let calm = self.world.state().now_ms + 2 * LEASE_MS;
        for process in &mut alive {
            self.drive(process, calm);
        }
        if alive.is_empty() {
            alive.push(self.process());
        }
        if self.is_over()
            && let Some(last) = alive
                .iter_mut()
                .find(|process| self.world.stopped(process.life).is_none())
        {
            self.look_back(last);
        }
        for process in alive {
            self.end(process);
        }
    }

    fn frozen_for(&self, life: usize) -> u64 {
        [100, 2 * LEASE_MS, 5 * LEASE_MS]
            [(hash_of(&[self.world.case.seed, 33, life as u64]) % 3) as usize]
    }

    fn is_over(&self) -> bool {
        let row = self.awaited.and_then(|id| row(&self.world, id));
        row.is_some_and(|row| row.status.is_over())
    }

    fn fault_of(&self, process: &Process) -> Option<(u64, What)> {
        if self.world.state().quiet {
            return None;
        }
        let (at, what) = self
            .world
            .case
            .fault_after(process.life, process.faults_from)?;
        Some((process.began_ms + at, what))
    }

    /// What goes wrong at a time.
    fn fault(&mut self, process: &mut Process, at: u64, what: What) -> Option<Stopped> {
        process.faults_from = at - process.began_ms + 1;
        set_life(process.life);
        self.world.say(|| format!("{what:?}"));
        match what {
            What::Freeze => {
                self.world.stop(process.life, Stopped::Frozen);
                Some(Stopped::Frozen)
            }
            What::ShutDown => {
                let (runtime, world, life) =
                    (process.runtime.clone(), self.world.clone(), process.life);
                let (done, took) = process.block_on(async {
                    let began = Instant::now();
                    let shut_down = tokio::spawn(async move { runtime.shut_down().await });
                    let done = tokio::select! {
                        biased;
                        _ = shut_down => true,
                        () = world.until_stopped(life) => true,
                        () = tokio::time::sleep(Duration::from_secs(120)) => false,
                    };
                    (done, began.elapsed())
                });
                if !done {
                    self.world
                        .violated("no hang", "a process does not shut down".to_owned());
                }
                self.world.state().now_ms += took.as_millis() as u64;
                Some(Stopped::Crashed)
            }
            What::Twin => None,
            What::Cancel => {
                if let Some(id) = self.execution {
                    let (runtime, world) = (process.runtime.clone(), self.world.clone());
                    process.spawn(async move {
                        let result = runtime.cancel(id).await;
                        cancelled(&world, id, result.map(drop));
                    });
                }
                None
            }
            _ => Some(Stopped::Crashed),
        }
    }

    fn thaw(&self, process: Process) -> Process {
        set_life(process.life);
        {
            let mut state = self.world.state();
            state.stopped.remove(&process.life);
            let now = state.now_ms;
            drop(state);
            let seen = process.now_ms();
            process
                .clock
                .base_ms
                .fetch_add(now.saturating_sub(seen), Ordering::Relaxed);
        }
        self.world.say(|| "goes on".to_owned());
        self.world.thawed.notify_waiters();
        process
    }

    fn end(&self, process: Process) {
        set_life(process.life);
        drop(process);
    }

    /// A process more, which recovers what there is.
    fn process(&mut self) -> Process {
        let life = self.lives;
        self.lives += 1;
        set_life(life);
        self.world.say(|| "begins".to_owned());
        let tokio = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .unwrap_or_else(|error| unreachable!("a runtime without I/O can be built: {error}"));
        let began_ms = self.world.state().now_ms;
        let base_ms = Arc::new(AtomicU64::new(began_ms));
        let began = tokio.block_on(async { Instant::now() });
        let clock = Clock { base_ms, began };
        let now = clock.clone();
        let case = &self.world.case;
        let mut options = RuntimeOptions::new()
            .lease(Duration::from_millis(LEASE_MS))
            .clock(move || UNIX_EPOCH + Duration::from_millis(now.now_ms()));
        if let Some(every) = NonZeroUsize::new(case.snapshots) {
            options = options.snapshot_every(every);
        }
        if case.prune {
            options = options.prune_history();
        }
        let runtime = Runtime::with_options(Seen::new(&self.world, life), options);
        if let Err(error) = (self.entry.register)(&runtime) {
            self.world.violated("register", error.to_string());
        }
        let process = Process {
            life,
            tokio,
            runtime,
            clock,
            began_ms,
            faults_from: 0,
        };
        self.begin(&process);
        process
    }

    /// What a process does of itself: it recovers, starts the execution if nobody knows that it was started, and looks whether
    /// it can go on.
    fn begin(&self, process: &Process) {
        let (world, runtime, entry) = (self.world.clone(), process.runtime.clone(), self.entry);
        process.spawn(async move {
            while let Err(error) = recover(&world, &runtime).await {
                refused(&world, "recover", &error);
                tokio::time::sleep(Duration::from_secs(1)).await;
            }
            loop {
                let case = &world.case;
                let mut options = StartOptions::new().idempotency_key("the only one");
                if let Some(limit) = NonZeroUsize::new(case.at_once) {
                    options = options.concurrency(limit);
                }
                let (x, y) = (case.seed % 1000, case.seed % 7);
                let before = executions(&world);
                match (entry.start)(runtime.clone(), x, y, options).await {
                    Ok(_) => break,
                    Err(error) => {
                        if executions(&world) != before {
                            world.known(
                                "errors without effect",
                                format!("`start` failed, and started: {error}"),
                            );
                        }
                        refused(&world, "start", &error);
                        tokio::time::sleep(Duration::from_secs(1)).await;
                    }
                }
            }
            world.changed.notify_waiters();
            loop {
                let Some(id) = only(&world) else { return };
                let settled = async { runtime.get(id).await?.settled().await };
                match tokio::time::timeout(Duration::from_secs(5), settled).await {
                    Ok(Ok(execution)) if execution.status().is_over() => return,
                    Ok(Err(error)) => refused(&world, "settled", &error),
                    Ok(Ok(_)) | Err(_) => {}
                }
                tokio::time::sleep(Duration::from_secs(23)).await;
            }
        });
    }

    /// Drives a process until a time of the world, or until it is stopped, or what it is there for is over.
    fn drive(&mut self, process: &mut Process, until: u64) -> Paused {
        set_life(process.life);
        let (world, clock, life) = (self.world.clone(), process.clock.clone(), process.life);
        let mut execution = self.execution;
        let mut awaited = self.awaited;
        let (lingers, runtime) = (self.lingers, process.runtime.clone());
        let paused = process.block_on(async {
            loop {
                let now = clock.now_ms();
                {
                    let mut state = world.state();
                    state.now_ms = state.now_ms.max(now);
                }
                if let Some(stopped) = world.stopped(life) {
                    return Paused::Stopped(stopped);
                }
                execution = execution.or_else(|| only(&world));
                awaited = awaited.or(execution);
                let over = awaited
                    .and_then(|id| row(&world, id))
                    .is_some_and(|row| row.status.is_over());
                if over && !lingers {
                    return Paused::Over;
                }
                if now >= until {
                    return Paused::Time;
                }
                let next = match awaited {
                    Some(id) if !over => people(&world, &runtime, id, now),
                    _ => u64::MAX,
                };
                let left = next.min(until).saturating_sub(now).min(1_000_000_000);
                tokio::select! {
                    biased;
                    () = world.changed.notified() => {}
                    () = tokio::time::sleep(Duration::from_millis(left)) => {}
                }
            }
        });
        self.execution = execution;
        self.awaited = awaited;
        paused
    }

    /// When the execution is over: a fork from each of some records comes to the same end, and the past can be looked at.
    fn look_back(&mut self, process: &mut Process) {
        let Some(id) = self.execution else { return };
        let world = self.world.clone();
        let seen = world
            .state()
            .executions
            .get(&id)
            .cloned()
            .unwrap_or_default();
        let case = world.case.clone();
        let Some(last) = seen.history.last().cloned() else {
            return;
        };
        let runtime = process.runtime.clone();
        let first = world.store.records(id, 0, 1).now_or_never();
        let first = first
            .and_then(Result::ok)
            .and_then(|records| records.first().map(|record| record.seq));
        let first = first.unwrap_or(u64::MAX);
        set_life(process.life);
        // The past of what was cancelled, or ended too early, is as any other.
        let step = 1 + seen.history.len() as u64 / 12;
        let mut seq = first.saturating_add(hash_of(&[case.seed, 41]) % step);
        while seq < seen.history.len() as u64 {
            let looked = {
                let runtime = runtime.clone();
                process.block_on(async move { runtime.state(id, seq).await })
            };
            if let Err(error) = looked {
                world.violated("state", format!("the state at record {seq}: {error}"));
            }
            seq += step;
        }
        if matches!(last.kind, flow_runtime::durable::RecordKind::RunCancelled)
            || seen.history.len() < 2
        {
            return;
        }
        // All that was recorded, once more: nothing runs, and it comes to the same end.
        let from = seen.history.len() as u64 - 2;
        let limited = case.at_once > 0;
        if first == 0 || first <= from {
            let before = world
                .state()
                .executions
                .values()
                .map(|seen| seen.runs)
                .sum::<usize>();
            let (fork, ending) = self.fork(process, id, from);
            if let (Some(ending), Some(row)) = (ending, row(&world, id)) {
                let expected = Ending {
                    status: row.status,
                    result: row.result,
                };
                let ran = world
                    .state()
                    .executions
                    .values()
                    .map(|seen| seen.runs)
                    .sum::<usize>()
                    - before;
                if ending != expected {
                    world.violated(
                        "replay of all",
                        format!("a fork from record {from} ends as {ending:?}, and the execution as {expected:?}"),
                    );
                }
                if ran > 0 && fork.is_some() {
                    world.violated(
                        "replay of all",
                        format!("a fork from record {from} runs {ran} steps"),
                    );
                }
            }
        }
        let Some(from) = case.fork.filter(|from| *from >= first && *from <= last.seq) else {
            return;
        };
        let (_, ending) = self.fork(process, id, from);
        if case.mode == Mode::Calm
            && !limited
            && let (Some(ending), Some(row)) = (ending, row(&world, id))
        {
            let expected = Ending {
                status: row.status,
                result: row.result,
            };
            if ending != expected {
                world.violated(
                    "forks",
                    format!("a fork from record {from} ends as {ending:?}, and the execution as {expected:?}"),
                );
            }
        }
    }

    fn fork(
        &mut self,
        process: &mut Process,
        id: ExecutionId,
        from: u64,
    ) -> (Option<ExecutionId>, Option<Ending>) {
        let world = self.world.clone();
        set_life(process.life);
        world.say(|| format!("forks from record {from}"));
        // Steps of wild nodes return something else in a process of another number.
        let runtime = process.runtime.clone();
        let fork = match process.block_on(async move { runtime.fork(id, from).await }) {
            Ok(fork) => fork.id(),
            Err(error) => {
                world.violated("forks", format!("a fork from record {from}: {error}"));
                return (None, None);
            }
        };
        self.awaited = Some(fork);
        let until = world.state().now_ms + 2 * self.entry.bound_ms + 60 * 60 * 1000;
        let lingers = std::mem::replace(&mut self.lingers, false);
        let paused = self.drive(process, until);
        self.lingers = lingers;
        let ended = row(&world, fork).filter(|row| row.status.is_over());
        self.awaited = self.execution;
        if ended.is_none() {
            let runtime = process.runtime.clone();
            let why = process.block_on(async move {
                let settled = async { runtime.get(fork).await?.settled().await };
                tokio::time::timeout(Duration::from_secs(5), settled).await
            });
            let why = why.map(|settled| settled.map(|execution| execution.status()));
            world.violated(
                "forks",
                format!("a fork from record {from} does not end: {paused:?}, {why:?}"),
            );
        }
        let ending = ended.map(|row| Ending {
            status: row.status,
            result: row.result,
        });
        (Some(fork), ending)
    }
}

impl Process {
    fn block_on<T>(&self, work: impl Future<Output = T>) -> T {
        set_life(self.life);
        self.tokio.block_on(work)
    }

    fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        self.tokio.spawn(work);
    }

    fn now_ms(&self) -> u64 {
        let clock = self.clock.clone();
        self.tokio.block_on(async move { clock.now_ms() })
    }
}

fn executions(world: &World) -> usize {
    let all = world.store.list(&ListQuery::default()).now_or_never();
    all.and_then(Result::ok).map_or(0, |all| all.len())
}

/// The execution that is not a fork of another one.
fn only(world: &World) -> Option<ExecutionId> {
    let all = world
        .store
        .list(&ListQuery::default())
        .now_or_never()?
        .ok()?;
    let mut own = all.iter().filter(|row| row.forked_from.is_none());
    let id = own.next()?.id;
    if own.next().is_some() {
        world.violated(
            "one execution",
            "a second start with the same key started another execution".to_owned(),
        );
    }
    Some(id)
}

fn cancelled(world: &World, id: ExecutionId, result: Result<(), RuntimeError>) {
    let over = row(world, id).map(|row| row.status);
    match result {
        Ok(()) if over != Some(Status::Cancelled) => {
            world.violated("cancel", format!("it is {over:?} after `cancel` returned"));
        }
        Err(RuntimeError::Store { .. }) if over == Some(Status::Cancelled) => {
            world.known(
                "errors without effect",
                "`cancel` failed, and cancelled".to_owned(),
            );
        }
        Ok(()) | Err(RuntimeError::Store { .. } | RuntimeError::Over { .. }) => {}
        Err(error) => world.violated("cancel", format!("`cancel`: {error}")),
    }
}

async fn recover(world: &World, runtime: &Runtime) -> Result<(), RuntimeError> {
    let recovered = runtime.recover().await?;
    for (_, error) in recovered.refused {
        refused(world, "recover", &error);
    }
    Ok(())
}

/// A call failed. That is a violation unless the store was told to fail.
fn refused(world: &World, what: &str, error: &RuntimeError) {
    match error {
        RuntimeError::Store { .. }
            if world.case.has(What::FailBefore) || world.case.has(What::FailAfter) =>
        {
            world.say(|| format!("`{what}` fails: {error}"));
        }
        RuntimeError::TakenOver(_) | RuntimeError::ShutDown(_) => {
            world.say(|| format!("`{what}` fails: {error}"));
        }
        RuntimeError::ReplayDiverged { .. } => {
            let text = format!("`{what}`: {error}");
            let told = world
                .state()
                .violations
                .iter()
                .any(|violation| violation.text == text);
            if !told {
                world.violated("replay", text);
            }
        }
        error => world.violated("no errors", format!("`{what}`: {error}")),
    }
}

/// Does what people do who are asked. When the next of them does something.
fn people(world: &Arc<World>, runtime: &Runtime, id: ExecutionId, now: u64) -> u64 {
    let pauses = world
        .store
        .pauses(id)
        .now_or_never()
        .and_then(Result::ok)
        .unwrap_or_default();
    let mut next = u64::MAX;
    for pause in pauses
        .into_iter()
        .filter(|pause| pause.state == PauseState::Open)
    {
        let (delay, answer) = world.answer(&pause.step, &pause.expected);
        let mut state = world.state();
        let (due, answer) = state
            .people
            .entry(pause.token)
            .or_insert((pause.created_ms + delay, answer))
            .clone();
        let Some(answer) = answer else { continue };
        if due > now {
            next = next.min(due);
            continue;
        }
        // If nobody says that it has arrived, it is sent again.
        state
            .people
            .insert(pause.token, (now + 4000, Some(answer.clone())));
        next = next.min(now + 4000);
        drop(state);
        let (world, runtime) = (world.clone(), runtime.clone());
        world.say(|| format!("somebody answers `{}` with {answer}", pause.step));
        tokio::spawn(async move {
            let result = runtime.resume(pause.token, answer.clone()).await;
            let stands = world
                .store
                .pause(pause.token)
                .now_or_never()
                .and_then(Result::ok)
                .flatten();
            let stands = stands.map(|pause| pause.state);
            let at_ms = world.state().now_ms;
            match result {
                Ok(_) => world.state().accepted.push(Accepted {
                    execution: id,
                    token: pause.token,
                    step: pause.step,
                    value: answer,
                    at_ms,
                }),
                Err(
                    error @ (RuntimeError::AlreadyAnswered { .. }
                    | RuntimeError::Expired { .. }
                    | RuntimeError::Over { .. }),
                ) => {
                    world.say(|| format!("`resume` fails: {error}"));
                }
                Err(error) => {
                    if matches!(stands, Some(PauseState::Answered(_))) {
                        world.known(
                            "errors without effect",
                            format!("`resume` failed, and answered: {error}"),
                        );
                    }
                    refused(&world, "resume", &error);
                }
            }
        });
    }
    next
}
