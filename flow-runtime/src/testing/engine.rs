//! The engine of scripted runs.

use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::engine::{
    AnyOrder, Engine, Failed, Failure, Frame, Hooks, Run, Scope, StateHooks, Step, Visits,
};
use crate::node_error::NodeError;
use crate::testing::scripted::{Found, Script, Scripts, short_name};
use crate::testing::visited::{NoValues, Visited};

#[cfg(feature = "stored")]
use crate::{
    engine::{Json, StoredState, Visit},
    testing::visited::WithValues,
};

/// The engine of a [`Scripted`](super::Scripted) run.
pub struct ScriptedEngine<V> {
    run: Run,
    scripts: Arc<Scripts>,
    seen: Mutex<Seen>,
    counts: Visits,
    values: PhantomData<V>,
}

#[derive(Default)]
struct Seen {
    visits: Vec<Visited>,
    /// The message for the first node that has no script but should have one.
    missing: Option<String>,
}

impl<V> ScriptedEngine<V> {
    pub(super) fn new(scripts: Arc<Scripts>) -> Self {
        ScriptedEngine {
            run: Run::new(),
            scripts,
            seen: Mutex::default(),
            counts: Visits::new(),
            values: PhantomData,
        }
    }

    /// The visits, and the message for a node that has no script.
    pub(super) fn into_visits(self) -> (Vec<Visited>, Option<String>) {
        let seen = self
            .seen
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        (seen.visits, seen.missing)
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn begin(&self, frame: &Frame<'_>) {
        let visit = visit_of(frame);
        self.seen().visits.push(visit);
    }

    /// The outcome that the script of a node returns. `None` if the node itself runs.
    fn scripted<N: Step + 'static>(&self, frame: &Frame<'_>) -> Option<Result<N::Outcome, Failed>> {
        let visit = visit_of(frame);
        let path = visit.path.clone();
        match self.scripts.find::<N>(&path) {
            Found::Itself => None,
            Found::Missing => {
                let name = short_name::<N>();
                let missing = format!("`{path}` has no script: add `.node::<{name}>(…)`");
                self.seen().missing.get_or_insert(missing.clone());
                panic!("{missing}");
            }
            Found::Script(script) => {
                let script = script.downcast_ref::<Script<N>>().unwrap_or_else(|| {
                    unreachable!("scripts are found by the types of their nodes")
                });
                let outcome = script.run(&visit);
                Some(
                    outcome
                        .map_err(|error| NodeError::new(path, 1, Failure::Returned(error)).into()),
                )
            }
        }
    }
}

fn visit_of(frame: &Frame<'_>) -> Visited {
    Visited {
        path: frame.path().to_string(),
        number: frame.visit(),
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
        let frame = visit.frame();
        match self.scripted::<N>(frame) {
            Some(answer) => answer,
            None => {
                let path = frame.path().to_string();
                let name = short_name::<N>();
                let missing = format!("nobody answers `{path}`: add `.node::<{name}>(…)`");
                self.seen().missing.get_or_insert(missing.clone());
                panic!("{missing}");
            }
        }
    }

    #[cfg(feature = "stored")]
    async fn receive<N: crate::Signal>(&self, visit: Visit<'_>) -> Result<N, Failed> {
        match self.scripts.find::<N>(&visit.frame().path().to_string()) {
            // A flow that can be left at any time is tested without being left.
            Found::Itself | Found::Missing => std::future::pending().await,
            Found::Script(_) => match self.scripted::<N>(visit.frame()) {
                Some(signal) => signal,
                None => unreachable!("the node has a script"),
            },
        }
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
            Some(outcome) => outcome,
            None => work.await,
        }
    }
}

impl<S> StateHooks<S> for ScriptedEngine<NoValues> {}

#[cfg(feature = "stored")]
impl<S: StoredState<Json>> StateHooks<S> for ScriptedEngine<WithValues> {
    fn before_node(&self, scope: &Scope<'_>, node: u16, state: &S) -> Result<(), Failed> {
        self.node_started(scope, node)?;
        let values = state.save().unwrap_or_else(|unstorable| {
            panic!(
                "a value of `{}` cannot be kept: {unstorable}",
                scope.frame().flow_path()
            )
        });
        if let Some(visit) = self.seen().visits.last_mut() {
            visit.values = Some(values);
        }
        Ok(())
    }
}

impl<V> fmt::Debug for ScriptedEngine<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScriptedEngine").finish_non_exhaustive()
    }
}
