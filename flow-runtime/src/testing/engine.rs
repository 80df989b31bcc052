//! The engine of scripted runs.

use std::fmt;
use std::future::{Future, pending};
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::engine::{
    AnyOrder, Engine, Failed, Failure, Frame, Hooks, RaceBranch, Run, Scope, StateHooks, Step,
    Visits, finish_under_way,
};
use crate::node_error::{NodeError, TimedOut};
use crate::testing::never::{Beside, Never, Races};
use crate::testing::scripts::{Found, Script, Scripts, Used, short_name};
use crate::testing::visited::{NoValues, Visited};

#[cfg(feature = "stored")]
use crate::{
    engine::{Json, StoredState, Undoable, Visit, kept_values},
    testing::visited::WithValues,
};

/// The engine of a [`Scripted`](super::Scripted) run.
pub struct ScriptedEngine<V> {
    run: Run,
    scripts: Arc<Scripts>,
    seen: Mutex<Seen>,
    counts: Visits,
    /// The number of flows with a `timeout` that are running.
    timeouts: AtomicUsize,
    values: PhantomData<V>,
}

/// The record of a run.
#[derive(Default)]
pub(super) struct Seen {
    pub(super) visits: Vec<Visited>,
    /// The message for the first mistake in the scripts.
    pub(super) mistake: Option<String>,
    pub(super) used: Used,
    races: Races,
}

/// What a script does at a visit.
enum Act<T> {
    /// Lets the node itself run.
    Itself,
    /// Returns an outcome or a failure.
    Ends(Result<T, Failed>),
    /// Lets it never be done.
    Never,
}

impl<V> ScriptedEngine<V> {
    pub(super) fn new(scripts: Arc<Scripts>) -> Self {
        ScriptedEngine {
            run: Run::new(),
            scripts,
            seen: Mutex::default(),
            counts: Visits::new(),
            timeouts: AtomicUsize::new(0),
            values: PhantomData,
        }
    }

    pub(super) fn into_seen(self) -> Seen {
        self.seen
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn begin(&self, frame: &Frame<'_>) {
        let visit = visit_of(frame);
        self.seen().visits.push(visit);
    }

    /// Fails the test.
    fn fail(&self, mistake: String) -> ! {
        self.seen().mistake.get_or_insert(mistake.clone());
        panic!("{mistake}");
    }

    /// Asks the script of a node, if it has one.
    fn scripted<N: Step + 'static>(&self, frame: &Frame<'_>) -> Act<N::Outcome> {
        let visit = visit_of(frame);
        let found = self.scripts.find::<N>(&visit.path, &mut self.seen().used);
        let script = match found {
            Found::Itself => return Act::Itself,
            Found::Missing => {
                let (path, name) = (visit.path, short_name::<N>());
                self.fail(format!(
                    "`{path}` has no script: add `.node::<{name}>(…)`, or `.real::<{name}>()` if it is to run"
                ));
            }
            Found::Script(script) => script,
        };
        let script = script
            .downcast_ref::<Script<N>>()
            .unwrap_or_else(|| unreachable!("scripts are found by the types of their nodes"));
        let failure = match script.run(&visit) {
            Ok(outcome) => return Act::Ends(Ok(outcome)),
            Err(Failure::Returned(error)) if error.is::<Never>() => return Act::Never,
            Err(Failure::Returned(error)) => match error.downcast::<TimedOut>() {
                // The one that leads to `"timeout"`, if the node has that action.
                Ok(timed_out) => Failure::Deadline(*timed_out),
                Err(error) => Failure::Returned(error),
            },
            Err(failure) => failure,
        };
        Act::Ends(Err(NodeError::new(visit.path, 1, failure).into()))
    }

    /// A visit that is never done by itself. `timed_out` is its failure if its node has a `timeout`.
    async fn never<T>(
        &self,
        frame: &Frame<'_>,
        name: &str,
        timed_out: Option<Failure>,
    ) -> Result<T, Failed> {
        let path = frame.path().to_string();
        let in_time = self.timeouts.load(Ordering::Relaxed) > 0;
        let beside = self.seen().races.never(frame);
        match (beside, timed_out) {
            (Beside::Branch, _) => {}
            (Beside::NoBranch(_), _) if in_time => {}
            (Beside::NoBranch(race), _) => self.fail(format!(
                "no branch of `{race}` is ever done: add `.node::<{name}>(…)` for `{path}`, or say which branch is \
                 first: `.first({race:?}, …)`"
            )),
            (_, Some(timed_out)) => return Err(NodeError::new(path, 1, timed_out).into()),
            (Beside::Failure, None) => {}
            (Beside::Nothing, None) if in_time => {}
            (Beside::Nothing, None) => self.fail(format!(
                "`{path}` is never done, and nothing else ends it: add `.node::<{name}>(…)`"
            )),
        }
        // Nobody has to finish it, although it may have an undo node.
        self.run.rest(frame);
        pending().await
    }
}

fn visit_of(frame: &Frame<'_>) -> Visited {
    Visited {
        path: frame.path().to_string(),
        number: frame.visit(),
        item: frame.item_index(),
        #[cfg(feature = "stored")]
        values: None,
    }
}

impl<V: Send + Sync> Hooks for ScriptedEngine<V> {
    type Order = AnyOrder;

    fn run(&self) -> &Run {
        &self.run
    }

    fn node_started(&self, scope: &Scope<'_>, node: u16) -> Result<(), Failed> {
        let frame = scope.frame();
        self.counts.begin(frame, node);
        self.begin(frame);
        self.run.count_step(frame)
    }

    fn item_started(&self, scope: &Scope<'_>) {
        self.begin(scope.frame());
    }

    #[cfg(feature = "stored")]
    async fn ask<N: crate::Human>(&self, visit: Visit<'_>, _prompt: String) -> Result<N, Failed> {
        let (frame, name) = (visit.frame(), short_name::<N>());
        match self.scripted::<N>(frame) {
            Act::Ends(answer) => answer,
            Act::Never => self.never(frame, name, timed_out(&visit)).await,
            Act::Itself => {
                let path = frame.path();
                self.fail(format!("nobody answers `{path}`: add `.node::<{name}>(…)`"));
            }
        }
    }

    #[cfg(feature = "stored")]
    async fn receive<N: crate::Signal>(&self, visit: Visit<'_>) -> Result<N, Failed> {
        let frame = visit.frame();
        let has_script = {
            let path = frame.path().to_string();
            let found = self.scripts.find::<N>(&path, &mut self.seen().used);
            matches!(found, Found::Script(_))
        };
        if has_script && let Act::Ends(signal) = self.scripted::<N>(frame) {
            return signal;
        }
        // A flow that can be left at any time is tested without being left.
        self.never(frame, short_name::<N>(), timed_out(&visit))
            .await
    }

    async fn within_timeout<T: Send>(
        &self,
        scope: &Scope<'_>,
        _attempt: u32,
        after: Duration,
        mut work: Pin<&mut (impl Future<Output = T> + Send)>,
    ) -> Option<T> {
        let counted = Counted::new(&self.timeouts);
        let ended = tokio::time::timeout(after, work.as_mut()).await;
        drop(counted);
        if ended.is_err() {
            finish_under_way(scope.run(), scope.frame(), work).await;
        }
        ended.ok()
    }

    fn race_started(&self, scope: &Scope<'_>, branches: &[RaceBranch<'_>]) -> Option<usize> {
        let (frame, visit) = (scope.frame(), visit_of(scope.frame()));
        let first = self.scripts.first(&visit, &mut self.seen().used);
        self.seen().races.begin(frame, branches, first.is_some());
        let first = first?;
        let nodes = |branch: &RaceBranch<'_>| -> Vec<&str> {
            let nodes = branch.nodes.iter();
            nodes
                .filter_map(|node| frame.flow().node(usize::from(*node)))
                .collect()
        };
        let is_it = |branch: &RaceBranch<'_>| {
            branch.action == Some(first) || nodes(branch).contains(&first)
        };
        let mut those = (0..branches.len()).filter(|at| is_it(&branches[*at]));
        if let (Some(branch), None) = (those.next(), those.next()) {
            return Some(branch);
        }
        let many = if branches.iter().any(is_it) {
            "several branches"
        } else {
            "no branch"
        };
        let shown = branches.iter().map(|branch| {
            let action = branch.action.map(|action| format!(" => {action:?}"));
            format!(
                "`{}{}`",
                nodes(branch).join(" >> "),
                action.unwrap_or_default()
            )
        });
        let (path, shown) = (visit.path, shown.collect::<Vec<_>>().join(", "));
        self.fail(format!(
            "`{path}` has {many} `{first}`: name an action or a step of one branch of {shown}"
        ))
    }

    fn undo_started(&self, scope: &Scope<'_>) {
        self.begin(scope.frame());
    }

    fn flow_failed(&self, scope: &Scope<'_>, _failed: &Failed) {
        self.counts.end(scope.frame());
    }

    fn flow_ended(&self, scope: &Scope<'_>, _end: &str) {
        scope.leave();
        self.counts.end(scope.frame());
    }

    async fn wait(&self, _scope: &Scope<'_>, _duration: Duration) -> Result<(), Failed> {
        Ok(())
    }
}

impl<N: Step + 'static, V: Send + Sync> Engine<N> for ScriptedEngine<V> {
    async fn step<'s, W>(&self, scope: &'s Scope<'s>, work: W) -> Result<N::Outcome, Failed>
    where
        W: Future<Output = Result<N::Outcome, Failed>> + Send,
    {
        match self.scripted::<N>(scope.frame()) {
            Act::Ends(outcome) => outcome,
            Act::Itself => work.await,
            Act::Never => {
                let timed_out = N::POLICY
                    .timeout
                    .map(|after| Failure::TimedOut(TimedOut { after }));
                self.never(scope.frame(), short_name::<N>(), timed_out)
                    .await
            }
        }
    }
}

/// The failure of a question or a signal that does not come in time.
#[cfg(feature = "stored")]
fn timed_out(visit: &Visit<'_>) -> Option<Failure> {
    let after = visit.timeout()?;
    Some(Failure::Deadline(TimedOut { after }))
}

/// Counts one more, until it is dropped.
struct Counted<'a>(&'a AtomicUsize);

impl<'a> Counted<'a> {
    fn new(count: &'a AtomicUsize) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Counted(count)
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl<S> StateHooks<S> for ScriptedEngine<NoValues> {}

#[cfg(feature = "stored")]
impl<S: StoredState<Json>> StateHooks<S> for ScriptedEngine<WithValues> {
    fn before_node(&self, scope: &Scope<'_>, node: u16, state: &S) -> Result<(), Failed> {
        self.node_started(scope, node)?;
        self.keep(scope, state);
        Ok(())
    }

    async fn kept(&self, scope: &Scope<'_>, undoable: Undoable) -> Result<S, Failed>
    where
        S: Send + 'static,
    {
        let state = kept_values(scope, undoable)?;
        self.keep(scope, &state);
        Ok(state)
    }
}

#[cfg(feature = "stored")]
impl ScriptedEngine<WithValues> {
    /// Keeps the values of the visit that has just begun.
    fn keep<S: StoredState<Json>>(&self, scope: &Scope<'_>, state: &S) {
        let values = state.save().unwrap_or_else(|unstorable| {
            panic!(
                "a value of `{}` cannot be kept: {unstorable}",
                scope.frame().flow_path()
            )
        });
        if let Some(visit) = self.seen().visits.last_mut() {
            visit.values = Some(values);
        }
    }
}

impl<V> fmt::Debug for ScriptedEngine<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScriptedEngine").finish_non_exhaustive()
    }
}
