//! The world around the processes of one case: the store that survives them, the clock, what nodes and people do, and a witness
//! of everything that happens.
//!
//! Nodes and people decide by hashes of the case's seed and of who they are, so that a case can be repeated. The witness sees
//! what was really stored and what really ran, and checks the laws that can be checked at once.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use flow_runtime::durable::{ExecutionId, MemoryStore, Record, RecordKind, Token};
use flow_runtime::prelude::*;
use tokio::sync::Notify;

use crate::case::{Case, Mode, What};

/// When all cases begin, in milliseconds since 1970.
pub(crate) const BEGAN_MS: u64 = 1_800_000_000_000;

/// More calls of the store than any case needs.
const CALLS: u64 = 300_000;

thread_local! {
    static WORLD: RefCell<Option<Arc<World>>> = const { RefCell::new(None) };
    static LIFE: Cell<usize> = const { Cell::new(0) };
}

/// Mixes numbers.
pub(crate) fn hash_of(numbers: &[u64]) -> u64 {
    numbers
        .iter()
        .fold(0x51_7c_c1_b7_27_22_0a_95, |hash, number| {
            let mut z = (hash ^ number).wrapping_add(0x9e37_79b9_7f4a_7c15);
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            z ^ (z >> 31)
        })
}

pub(crate) fn text_hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// A law that was broken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Violation {
    /// A short name, by which violations are told apart.
    pub(crate) law: &'static str,
    pub(crate) text: String,
}

/// What became of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stopped {
    Crashed,
    Frozen,
}

/// What is known of an execution.
#[derive(Debug, Default, Clone)]
pub(crate) struct Witnessed {
    /// All that was ever stored, also what was pruned.
    pub(crate) history: Vec<Record>,
    /// The outcomes, by step.
    pub(crate) outcomes: HashMap<String, u64>,
    /// The steps of frames and nodes that have ended, with the number of the record.
    ended: BTreeMap<String, u64>,
    pub(crate) over: bool,
    /// The steps that have returned something in a life that is under way, and are not stored yet.
    returned: BTreeSet<(usize, String)>,
    /// How often something ran for it.
    pub(crate) runs: usize,
    /// What can happen to a step once.
    once: BTreeSet<(RecordKind, String)>,
    /// Which process has claimed or cancelled it last.
    holder: usize,
}

/// An answer that was accepted.
#[derive(Debug, Clone)]
pub(crate) struct Accepted {
    pub(crate) execution: ExecutionId,
    pub(crate) token: Token,
    pub(crate) step: String,
    pub(crate) value: serde_json::Value,
    pub(crate) at_ms: u64,
}

#[derive(Default)]
pub(crate) struct State {
    pub(crate) now_ms: u64,
    pub(crate) executions: BTreeMap<ExecutionId, Witnessed>,
    /// By step, and by execution too where nodes do not do the same in each: what it read, and in which life.
    pub(crate) inputs: BTreeMap<String, (u64, usize)>,
    polls: HashMap<(usize, String), u32>,
    pub(crate) trace: Vec<String>,
    pub(crate) violations: Vec<Violation>,
    /// Violations of laws that are known to be broken.
    pub(crate) known: Vec<Violation>,
    /// How many calls of the store each process has made.
    pub(crate) calls: Vec<u64>,
    pub(crate) stopped: BTreeMap<usize, Stopped>,
    pub(crate) accepted: Vec<Accepted>,
    /// What the person decides about each question that was seen: when, and what.
    pub(crate) people: BTreeMap<Token, (u64, Option<serde_json::Value>)>,
    /// Whether the faults of the case are over.
    pub(crate) quiet: bool,
}

/// The world of one case.
pub(crate) struct World {
    pub(crate) case: Case,
    pub(crate) store: MemoryStore,
    state: Mutex<State>,
    /// Something was stored, or a process was stopped.
    pub(crate) changed: Notify,
    /// A process that was frozen goes on.
    pub(crate) thawed: Notify,
    traced: bool,
}

impl std::fmt::Debug for World {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("World").finish_non_exhaustive()
    }
}

/// The world of this thread.
pub(crate) fn world() -> Option<Arc<World>> {
    WORLD.with_borrow(Clone::clone)
}

/// Which process is driven by this thread.
pub(crate) fn life() -> usize {
    LIFE.get()
}

pub(crate) fn set_life(life: usize) {
    LIFE.set(life);
}

impl World {
    /// A new world, which is the one of this thread from now on.
    pub(crate) fn new(case: &Case, traced: bool) -> Arc<World> {
        let world = Arc::new(World {
            case: case.clone(),
            store: MemoryStore::new(),
            state: Mutex::new(State {
                now_ms: BEGAN_MS,
                ..State::default()
            }),
            changed: Notify::new(),
            thawed: Notify::new(),
            traced,
        });
        WORLD.set(Some(world.clone()));
        world
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn violated(&self, law: &'static str, text: String) {
        self.say(|| format!("VIOLATION of {law}: {text}"));
        self.state().violations.push(Violation { law, text });
    }

    pub(crate) fn known(&self, law: &'static str, text: String) {
        self.say(|| format!("known violation of {law}: {text}"));
        self.state().known.push(Violation { law, text });
    }

    /// Adds a line to the trace.
    pub(crate) fn say(&self, line: impl FnOnce() -> String) {
        if self.traced {
            let line = line();
            let mut state = self.state();
            let ms = state.now_ms - BEGAN_MS;
            state
                .trace
                .push(format!("{ms:>8} ms  process {}  {line}", life()));
        }
    }

    fn roll(&self, what: u64, step: &str, more: u64) -> u64 {
        hash_of(&[self.case.seed, what, text_hash(step), more]) >> 11
    }

    /// As `roll`, and another one in each life where nodes are fickle.
    fn decides(&self, what: u64, step: &str, more: u64) -> u64 {
        let life = match self.case.mode {
            Mode::Fickle => 1 + life() as u64,
            Mode::Calm | Mode::Wild => 0,
        };
        self.roll(what, step, hash_of(&[more, life]))
    }

    /// Whether a step may fail or hang. In a calm case, that is so in one branch of each fork and for one item of each loop only,
    /// since it would be a matter of chance which of several is the first.
    pub(crate) fn may_misbehave(&self, step: &str) -> bool {
        if self.case.mode != Mode::Calm {
            return true;
        }
        let mut prefix = String::new();
        for part in step.split('.') {
            let parsed = part
                .strip_prefix('b')
                .and_then(|rest| rest.split_once("of"))
                .and_then(|(branch, rest)| Some((branch, rest.split_once('_')?.0)))
                .and_then(|(branch, of)| {
                    Some((branch.parse::<u64>().ok()?, of.parse::<u64>().ok()?))
                });
            if let Some((branch, of)) = parsed
                && self.roll(1, &prefix, 0) % of != branch
            {
                return false;
            }
            let mut within = prefix.clone();
            for (number, piece) in part.split('[').enumerate() {
                if number > 0 {
                    let index = piece
                        .split(']')
                        .next()
                        .and_then(|index| index.parse::<u64>().ok());
                    if index.is_some_and(|index| self.roll(2, &within, 0) % 3 != index) {
                        return false;
                    }
                    within.push('[');
                }
                within.push_str(piece);
            }
            prefix.push_str(part);
            prefix.push('.');
        }
        true
    }

    fn trouble(&self, what: u64, step: &str, attempt: u32, percent: u64) -> bool {
        self.may_misbehave(step) && self.decides(what, step, attempt.into()) % 100 < percent
    }

    /// What a person says to a question: after how many milliseconds, and what. Nothing is no answer.
    pub(crate) fn answer(&self, step: &str, expected: &str) -> (u64, Option<serde_json::Value>) {
        let delay = [0, 3, 40, 400, 2500][(self.roll(3, step, 0) % 5) as usize];
        let value = self.decides(4, step, 0) % 1000;
        let silent = self.trouble(5, step, 0, 2 * u64::from(self.case.trouble));
        let answer = match expected {
            "Maybe" | "MaybeVote" if silent => None,
            "Vote" | "MaybeVote" if value.is_multiple_of(3) => Some(serde_json::json!("No")),
            "Vote" | "MaybeVote" => Some(serde_json::json!({ "Yes": { "vote": value } })),
            _ => Some(serde_json::json!({ "value": value })),
        };
        (delay, answer)
    }

    /// A step begins, or does so again.
    fn begins(&self, step_id: &str, attempt: u32, read: u64) {
        let (id, step) = step_id.split_at(36);
        let step = &step[1..];
        self.say(|| format!("runs {step} attempt {attempt}, reads {read:x}"));
        let Ok(id) = id.parse::<ExecutionId>() else {
            return;
        };
        let mut broken = Vec::new();
        let mut state = self.state();
        let seen = state.executions.entry(id).or_default();
        seen.runs += 1;
        // What has been taken over may go on until it wants to write something.
        let holds = seen.holder == life();
        if let Some(seq) = seen.outcomes.get(step).filter(|_| holds) {
            broken.push((
                "outcome runs again",
                format!("`{step}` runs again, whose outcome is record {seq}"),
            ));
        }
        let over = seen.over && holds;
        // An execution that is being taken up does not hear of it.
        let unheard = over && self.case.has(What::Cancel);
        if over && !unheard {
            broken.push((
                "runs after the end",
                format!("`{step}` runs, and the execution is over"),
            ));
        }
        let returned = seen
            .returned
            .iter()
            .find(|(in_life, before)| *in_life == life() && is_before(before, step));
        if let Some((_, before)) = returned {
            broken.push((
                "stored before seen",
                format!("`{step}` runs, and what `{before}` returned is not stored"),
            ));
        }
        let life = life();
        let name = match self.case.mode {
            Mode::Calm => step.to_owned(),
            Mode::Wild | Mode::Fickle => step_id.to_owned(),
        };
        match state.inputs.get(&name) {
            Some((before, in_life)) if *before != read => broken.push((
                "same inputs",
                format!("`{step}` reads {read:x} now, and read {before:x} in process {in_life}"),
            )),
            Some(_) => {}
            None => {
                state.inputs.insert(name, (read, life));
            }
        }
        drop(state);
        if unheard {
            self.known(
                "runs after the end",
                "a step begins after `cancel`".to_owned(),
            );
        }
        for (law, text) in broken {
            self.violated(law, text);
        }
    }

    /// A step has returned something that will be its outcome.
    fn returns(&self, step_id: &str) {
        let (id, step) = step_id.split_at(36);
        if let Ok(id) = id.parse::<ExecutionId>() {
            let mut state = self.state();
            let seen = state.executions.entry(id).or_default();
            seen.returned.insert((life(), step[1..].to_owned()));
        }
    }

    /// A process begins with an execution. What it knew of it before is gone.
    pub(crate) fn claimed(&self, id: ExecutionId) {
        let mut state = self.state();
        let seen = state.executions.entry(id).or_default();
        seen.returned.retain(|(in_life, _)| *in_life != life());
        seen.holder = life();
    }

    /// How many calls of the store a process has made before this one. Nothing if it makes too many.
    pub(crate) fn counted(&self) -> Option<u64> {
        let life = life();
        let mut state = self.state();
        while state.calls.len() <= life {
            state.calls.push(0);
        }
        let calls = state.calls[life];
        state.calls[life] += 1;
        (calls < CALLS).then_some(calls)
    }

    pub(crate) fn stop(&self, life: usize, stopped: Stopped) {
        self.say(|| format!("{stopped:?}"));
        self.state().stopped.insert(life, stopped);
        self.changed.notify_waiters();
    }

    pub(crate) fn stopped(&self, life: usize) -> Option<Stopped> {
        self.state().stopped.get(&life).copied()
    }

    /// Returns when a process is stopped.
    pub(crate) async fn until_stopped(&self, life: usize) {
        while self.stopped(life).is_none() {
            self.changed.notified().await;
        }
    }

    /// Records were stored.
    pub(crate) fn stored(&self, id: ExecutionId, records: &[Record]) {
        for record in records {
            self.say(|| {
                format!(
                    "stores {} {} {} {}",
                    record.seq, record.kind, record.step, record.payload
                )
            });
            self.record(id, record);
        }
        self.changed.notify_waiters();
    }

    fn record(&self, id: ExecutionId, record: &Record) {
        let mut broken = Vec::new();
        let mut state = self.state();
        let seen = state.executions.entry(id).or_default();
        let (seq, kind, step) = (record.seq, record.kind, &record.step);
        if seq != seen.history.len() as u64 {
            broken.push((
                "no gaps",
                format!("record {seq} comes after {} records", seen.history.len()),
            ));
        }
        if seen.over {
            broken.push((
                "nothing after the end",
                format!("record {seq} {kind} `{step}` comes after the end"),
            ));
        }
        if kind == RecordKind::RunForked {
            // What follows is another life of what was copied.
        } else if let Some((frame, ended)) = seen.ended.iter().find(|(frame, _)| {
            is_in_frame(step, frame) && !(kind == RecordKind::NodeFinished && step == *frame)
        }) {
            broken.push((
                "nothing after a frame's end",
                format!(
                    "record {seq} {kind} `{step}` comes after record {ended}, which ended `{frame}`"
                ),
            ));
        }
        match kind {
            RecordKind::Outcome | RecordKind::NodeFailed | RecordKind::Resumed => {
                if let Some(first) = seen.outcomes.insert(step.clone(), seq) {
                    broken.push((
                        "one outcome",
                        format!("`{step}` has the outcomes {first} and {seq}"),
                    ));
                }
                seen.returned.remove(&(life(), step.clone()));
            }
            RecordKind::NodeStarted
            | RecordKind::Waiting
            | RecordKind::Waited
            | RecordKind::TimedOut
                if !seen.once.insert((kind, step.clone())) =>
            {
                broken.push((
                    "once each",
                    format!("record {seq} is the second {kind} of `{step}`"),
                ));
            }
            RecordKind::NodeFinished if seen.ended.contains_key(&format!("{step}!")) => {
                broken.push((
                    "one end",
                    format!("`{step}` finishes twice, again at {seq}"),
                ));
            }
            RecordKind::NodeFinished => {
                seen.ended.insert(format!("{step}!"), seq);
            }
            RecordKind::FlowEnded | RecordKind::FlowFailed | RecordKind::TimedOut => {
                seen.ended.insert(step.clone(), seq);
            }
            RecordKind::RunCompleted | RecordKind::RunFailed | RecordKind::RunCancelled => {
                seen.over = true
            }
            _ => {}
        }
        seen.history.push(record.clone());
        drop(state);
        for (law, text) in broken {
            self.violated(law, text);
        }
    }
}

/// Whether a record of a step may not come after the end of a frame. A frame with a `!` is a node that has finished, with all
/// that is in it; one without is an attempt at a flow, of which there may be others.
fn is_in_frame(step: &str, frame: &str) -> bool {
    match frame.strip_suffix('!') {
        Some(node) => step
            .strip_prefix(node)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[', '~'])),
        None => step
            .strip_prefix(frame)
            .is_some_and(|rest| rest.starts_with('.')),
    }
}

/// Whether what a step returned can be seen by another one: they are not in two branches of a fork, or for two items.
fn is_before(step: &str, other: &str) -> bool {
    if step == other {
        return false;
    }
    for (one, two) in step.split('.').zip(other.split('.')) {
        if one == two {
            continue;
        }
        let branch = |part: &str| {
            let (branch, rest) = part.strip_prefix('b')?.split_once("of")?;
            rest.contains('_').then(|| branch.to_owned())
        };
        if let (Some(one), Some(two)) = (branch(one), branch(two))
            && one != two
        {
            return false;
        }
        if let (Some((loop_one, _)), Some((loop_two, _))) =
            (one.split_once('['), two.split_once('['))
            && loop_one == loop_two
        {
            return false;
        }
        return true;
    }
    true
}

/// What a node may do.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Deed {
    fails: bool,
    hangs: bool,
    polls: bool,
    never: bool,
}

impl Deed {
    pub(crate) const SUCCEEDS: Deed = Deed {
        fails: false,
        hangs: false,
        polls: false,
        never: false,
    };
    pub(crate) const FAILS: Deed = Deed {
        fails: true,
        ..Deed::SUCCEEDS
    };
    pub(crate) const HANGS: Deed = Deed {
        hangs: true,
        ..Deed::FAILS
    };
    pub(crate) const POLLS_UNTIL_READY: Deed = Deed {
        polls: true,
        ..Deed::SUCCEEDS
    };
    pub(crate) const POLLS: Deed = Deed {
        never: true,
        ..Deed::POLLS_UNTIL_READY
    };
}

/// What a node did.
pub(crate) struct Done {
    pub(crate) value: u64,
    failed: bool,
    ready: bool,
}

impl Done {
    pub(crate) fn result(self) -> Result<u64, String> {
        match self.failed {
            true => Err(format!("it does not do for {}", self.value)),
            false => Ok(self.value),
        }
    }

    pub(crate) fn polled(self) -> Option<u64> {
        self.ready.then_some(self.value)
    }
}

/// What a node does that never waits.
pub(crate) fn at_once(cx: &Context, reads: &[u64]) -> Done {
    let (Some(world), Some(step_id)) = (world(), cx.step_id()) else {
        return Done {
            value: 0,
            failed: false,
            ready: true,
        };
    };
    let read = hash_of(reads);
    world.begins(&step_id, cx.attempt(), read);
    world.returns(&step_id);
    let step = &step_id[37..];
    let value = hash_of(&[world.decides(6, step, 0), read]) % 1_000_000;
    Done {
        value,
        failed: false,
        ready: true,
    }
}

/// What a node does: its time, whether it fails, and its value.
pub(crate) async fn act(cx: &Context, reads: &[u64], deed: Deed) -> Done {
    let (Some(world), Some(step_id)) = (world(), cx.step_id()) else {
        return std::future::pending().await;
    };
    let (read, attempt, step) = (hash_of(reads), cx.attempt(), &step_id[37..]);
    world.begins(&step_id, attempt, read);
    let trouble = u64::from(world.case.trouble);
    let failed = deed.fails && world.trouble(7, step, attempt, trouble);
    let hangs = deed.hangs && world.trouble(8, step, attempt, trouble);
    // How long it takes is another thing each time.
    let time = world.roll(9, step, hash_of(&[attempt.into(), life() as u64]));
    if world.case.yields {
        for _ in 0..time % 4 {
            tokio::task::yield_now().await;
        }
    }
    let millis = [0, 0, 1, 7, 7, 10, 20, 35][(time / 4 % 8) as usize];
    if millis > 0 {
        tokio::time::sleep(Duration::from_millis(millis)).await;
    }
    if hangs {
        std::future::pending::<()>().await;
    }
    let mut ready = true;
    if deed.polls {
        let polls = {
            let mut state = world.state();
            let polls = state.polls.entry((life(), step_id.clone())).or_default();
            *polls += 1;
            *polls
        };
        let never = deed.never && world.trouble(10, step, 0, trouble);
        ready = !never && u64::from(polls) > world.roll(11, step, 0) % 3;
    }
    let value = hash_of(&[world.decides(6, step, 0), read]) % 1_000_000;
    if ready && !failed {
        world.returns(&step_id);
    }
    Done {
        value,
        failed,
        ready,
    }
}
