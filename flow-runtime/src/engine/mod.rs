//! Engines, which run the steps of flows: the interface for writing your own.
//!
//! `flow!` generates one loop for each flow, generic over its engine. A node's work reaches the
//! engine as a future that has not been polled. [`Direct`], the engine of [`Flow::run`], polls it
//! and does nothing else. The engine of durable runs returns the recorded outcome instead, if there
//! is one. An engine for tests returns what the test says.
//!
//! An engine implements three traits:
//!
//! - [`Hooks`] belongs to the run as a whole. It learns which nodes begin and end, and it waits,
//!   asks people and takes signals.
//! - [`Engine`] runs the steps of a node. An engine may require something of the outcomes, such as
//!   that they can be stored. It then implements `Engine` only for nodes whose outcomes meet that.
//! - [`StateHooks`] sees the values of a flow between two nodes.
//!
//! [`run`] runs a flow on an engine.
//!
//! # Examples
//!
//! An engine that counts how often each node is visited:
//!
//! ```
//! use std::collections::BTreeMap;
//! use std::future::Future;
//! use std::sync::Mutex;
//! use flow_runtime::engine::{self, AnyOrder, Engine, Failed, Hooks, Run, Scope, StateHooks, Step};
//! use flow_runtime::prelude::*;
//!
//! #[derive(Default)]
//! struct Counting {
//!     run: Run,
//!     visits: Mutex<BTreeMap<String, u32>>,
//! }
//!
//! impl Hooks for Counting {
//!     type Order = AnyOrder;
//!
//!     fn run(&self) -> &Run {
//!         &self.run
//!     }
//! }
//!
//! impl<N: Step> Engine<N> for Counting {
//!     fn step<'s, W>(
//!         &self,
//!         scope: &'s Scope<'s>,
//!         work: W,
//!     ) -> impl Future<Output = Result<N::Outcome, Failed>> + Send
//!     where
//!         W: Future<Output = Result<N::Outcome, Failed>> + Send,
//!     {
//!         let path = scope.frame().path().to_string();
//!         *self.visits.lock().unwrap().entry(path).or_default() += 1;
//!         work
//!     }
//! }
//!
//! impl<S> StateHooks<S> for Counting {}
//!
//! #[node(writes = number)]
//! fn double(number: u32) -> u32 {
//!     number * 2
//! }
//!
//! flow! {
//!     Power(number: u32) -> (number: u32) {
//!         branch is_enough(number) { *number >= 100 => "yes", else => "no" }
//!         start >> double >> is_enough;
//!         is_enough - "no" >> double;
//!         is_enough - "yes" >> end;
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), FlowError> {
//! let counting = Counting::default();
//! let output = engine::run(&Power::new(), &counting, PowerInput { number: 3 }).await?;
//! assert_eq!(output.number, 192);
//! assert_eq!(counting.visits.lock().unwrap()["power.double"], 6);
//! # Ok(()) }
//! ```

#[cfg(feature = "stored")]
mod any_flow;
#[cfg(feature = "stored")]
mod ask;
mod carry_out;
mod direct;
mod loops;
mod nested;
mod observed;
#[cfg(feature = "stored")]
mod receive;
pub(crate) mod runner;
pub(crate) mod undo;
mod visits;

use std::borrow::Cow;
use std::future::{Future, ready};
use std::pin::Pin;
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;

use crate::flow::Flow;

#[cfg(feature = "stored")]
#[doc(hidden)]
pub use self::any_flow::until_cancelled;
#[cfg(feature = "stored")]
pub use self::any_flow::{AnyFlow, RunError, TypedInput, accepted_input};
#[cfg(feature = "stored")]
pub use self::ask::ask;
pub use self::carry_out::carry_out;
pub use self::direct::Direct;
#[doc(hidden)]
pub use self::loops::{loop_started, spread_results};
pub use self::observed::Observed;
#[cfg(feature = "stored")]
pub use self::receive::receive;
pub use self::runner::{Described, Runner, run};
pub use self::undo::{Undo, finish_under_way};
pub use self::visits::Visits;
pub use crate::error::Failed;
use crate::error::FlowError;
#[cfg(feature = "stored")]
pub use crate::exact::{Inexact, parse_json, to_json, to_json_text, unchanged};
#[cfg(feature = "stored")]
pub use crate::external::ExternalType;
pub use crate::frame::{FlowInfo, Frame, Path, Place};
pub use crate::history::{EarlierAttempts, History, Pause};
#[cfg(feature = "stored")]
pub use crate::input::{InputCode, InputError, RefusedInput, Unfit, Violation, read_input};
#[cfg(feature = "stored")]
pub use crate::json::{Json, Keep, Saved, Stored, Unstorable};
pub use crate::node_error::Failure;
use crate::node_error::NodeError;
pub use crate::ordered::{AnyOrder, LoopOrder, OrderOf, SameOrder};
pub use crate::panics::{Guarded, panic_message};
pub use crate::run::Run;
pub use crate::scope::Scope;
#[cfg(feature = "stored")]
pub use crate::signal::SignalTypes;
pub use crate::step::Step;
pub use crate::step_key::{Index, NodePath, Segment, StepKey};
#[cfg(feature = "stored")]
pub use crate::stored::{StoredFlow, StoredOutput, StoredState};
#[cfg(feature = "stored")]
pub use crate::supervise::run_any;
pub use crate::undo_list::Undoable;
pub use crate::visit::Visit;

/// Runs the steps of a node.
//
// The bound is on each node so that an engine which stores outcomes can require something of their
// types, while `Direct` requires nothing. (A bound on the outcome itself would name its type where
// rustc erases lifetimes, and then `&'static str` is not `Send` enough.)
pub trait Engine<N: Step>: Hooks {
    /// Runs one step, or returns its outcome without running it. The scope is at the node. `work`
    /// applies all settings of the node: it retries, enforces the timeout, and falls back.
    ///
    /// # Errors
    ///
    /// The step failed. An `"error"` edge leads on, or the run fails.
    fn step<'s, W>(
        &self,
        scope: &'s Scope<'s>,
        work: W,
    ) -> impl Future<Output = Result<N::Outcome, Failed>> + Send
    where
        W: Future<Output = Result<N::Outcome, Failed>> + Send;
}

/// The calls from a run to its engine, apart from the steps themselves.
pub trait Hooks: Send + Sync {
    /// True if it does more with the outcomes of steps than return them. If false, a loaded flow
    /// writes a node's value to its state within the work of the step, and the engine gets an
    /// outcome without it.
    const READS_OUTCOMES: bool = true;

    /// The required order of the items of loops: [`SameOrder`] for an engine that runs a flow again
    /// from what it has stored, as after a crash, and [`AnyOrder`] for all others.
    type Order: LoopOrder;

    /// The run that it drives.
    fn run(&self) -> &Run;

    /// The names of a flow that begins, from which the names of its steps are made: those of the flow
    /// itself, unless the run was recorded under other ones. `around` is the scope of the node that the
    /// flow is. It is `None` for the run's own flow, which asks only if it runs as a flow of any type.
    #[inline]
    fn names<'a>(&'a self, around: Option<&Scope<'_>>, flow: &'a FlowInfo) -> &'a FlowInfo {
        let _ = around;
        flow
    }

    /// The step, within the flow of the scope, with the names that the nodes on the way to it have in
    /// their flows, which are others if [`names`](Hooks::names) returns others.
    fn in_present_names<'a>(&self, scope: &Scope<'_>, step: StepKey<'a>) -> Cow<'a, str> {
        let _ = scope;
        Cow::Borrowed(step.as_str())
    }

    /// Called before a node runs, with its index. Moves the scope there and counts the step.
    ///
    /// # Errors
    ///
    /// The run's budget is used up.
    #[inline]
    fn node_started(&self, scope: &Scope<'_>, node: u16) -> Result<(), Failed> {
        scope.frame().enter(node);
        self.run().count_step(scope.frame())
    }

    /// Called before an item of the loop at the current node runs. Items do not count as steps,
    /// because the collection limits their number.
    #[inline]
    fn item_started(&self, scope: &Scope<'_>) {
        let _ = scope;
    }

    /// The index of the first item that the loop at the current node runs here. It is 0, unless
    /// this run has only a [part](Spread) of the items.
    #[inline]
    fn first_item(&self, scope: &Scope<'_>) -> u32 {
        let _ = scope;
        0
    }

    /// Called when the loop at the current node begins, with its number of items. Not called if the
    /// collection does not know that number.
    #[inline]
    fn loop_started(&self, scope: &Scope<'_>, items: usize) {
        let _ = (scope, items);
    }

    /// Runs the flow at the current node within the timeout that the flow around it sets. `attempt`
    /// counts from 0. Returns `None` if it took longer. The steps with an undo node that are under way
    /// then are [finished](finish_under_way) first.
    fn within_timeout<T: Send>(
        &self,
        scope: &Scope<'_>,
        attempt: u32,
        after: Duration,
        work: Pin<&mut (impl Future<Output = T> + Send)>,
    ) -> impl Future<Output = Option<T>> + Send {
        let _ = attempt;
        async move {
            let mut work = work;
            match tokio::time::timeout(after, work.as_mut()).await {
                Ok(result) => Some(result),
                Err(_) => {
                    finish_under_way(scope.run(), scope.frame(), work).await;
                    None
                }
            }
        }
    }

    /// Waits before another attempt at the flow at the current node. `attempt` counts from 0.
    ///
    /// # Errors
    ///
    /// The run cannot continue.
    fn wait_to_retry(
        &self,
        scope: &Scope<'_>,
        attempt: u32,
        wait: Duration,
    ) -> impl Future<Output = Result<(), Failed>> + Send {
        let _ = attempt;
        self.wait(scope, wait)
    }

    /// Decides whether another attempt follows the failure of the flow at the current node, with a
    /// function of the flow around it. `attempt` counts from 0. An engine that runs a flow again
    /// after a crash returns the earlier decision.
    fn tries_again(
        &self,
        scope: &Scope<'_>,
        attempt: u32,
        error: &NodeError,
        decides: fn(&NodeError) -> bool,
    ) -> bool {
        let _ = (scope, attempt);
        decides(error)
    }

    /// Asks a person for a value of this type, and waits for the answer. By default, it asks the
    /// `Answer` of the run's options ([`ask`]).
    ///
    /// # Errors
    ///
    /// The answer is missing, late, or of another type.
    #[cfg(feature = "stored")]
    fn ask_any(
        &self,
        visit: Visit<'_>,
        question: ExternalType,
        prompt: String,
    ) -> impl Future<Output = Result<serde_json::Value, Failed>> + Send {
        ask(self.run(), visit, question, prompt)
    }

    /// Asks a person for an `N`: [`ask_any`](Hooks::ask_any), with the answer as a value. An engine
    /// that has values instead of JSON overrides it.
    ///
    /// # Errors
    ///
    /// See [`ask_any`](Hooks::ask_any).
    #[cfg(feature = "stored")]
    fn ask<N: crate::Human>(
        &self,
        visit: Visit<'_>,
        prompt: String,
    ) -> impl Future<Output = Result<N, Failed>> + Send {
        async move {
            let answer = self.ask_any(visit, ExternalType::of::<N>(), prompt).await?;
            N::from_json(answer).map_err(|error| ask::of_another_type(&visit, &error))
        }
    }

    /// Waits for a signal of this name, whose body has this type, and takes the oldest one. By
    /// default, takes it from the sender of the run's options ([`receive`]).
    ///
    /// # Errors
    ///
    /// No signal came in time, or the run cannot continue.
    #[cfg(feature = "stored")]
    fn receive_any(
        &self,
        visit: Visit<'_>,
        name: &str,
        signal: ExternalType,
    ) -> impl Future<Output = Result<serde_json::Value, Failed>> + Send {
        let _ = signal;
        receive(self.run(), visit, name)
    }

    /// Waits for a signal `N`: [`receive_any`](Hooks::receive_any), with the signal as a value. An
    /// engine that has values instead of JSON overrides it.
    ///
    /// # Errors
    ///
    /// See [`receive_any`](Hooks::receive_any).
    #[cfg(feature = "stored")]
    fn receive<N: crate::Signal>(
        &self,
        visit: Visit<'_>,
    ) -> impl Future<Output = Result<N, Failed>> + Send {
        async move {
            let signal = self.receive_any(visit, N::NAME, ExternalType::of::<N>());
            N::from_json(signal.await?).map_err(|error| ask::of_another_type(&visit, &error))
        }
    }

    /// Called by a loaded flow if a recorded outcome, answer or signal does not fit its type, which only
    /// the flow knows. By default, the node fails. An engine that ends the run in another way never
    /// returns.
    fn unreadable(&self, scope: &Scope<'_>, reason: String) -> impl Future<Output = Failed> + Send {
        async move {
            let path = scope.frame().path().to_string();
            crate::NodeError::new(path, 1, Failure::Returned(reason.into())).into()
        }
    }

    /// Pauses the flow: `wait(…)` between two nodes.
    ///
    /// # Errors
    ///
    /// The run cannot continue.
    fn wait(
        &self,
        scope: &Scope<'_>,
        duration: Duration,
    ) -> impl Future<Output = Result<(), Failed>> + Send {
        let _ = scope;
        async move {
            tokio::time::sleep(duration).await;
            Ok(())
        }
    }

    /// Called when the race at the current node begins, with its branches. Returns the number of the
    /// branch that is known to be the first one, from 0: then only this branch runs. An engine that
    /// runs a flow again returns that of the earlier run. By default, it is not known.
    #[inline]
    fn race_started(&self, scope: &Scope<'_>, branches: &[RaceBranch<'_>]) -> Option<usize> {
        let _ = (scope, branches);
        None
    }

    /// Called when a branch of the race at the current node is done first. The others are dropped.
    /// An engine that runs a flow again after a crash lets nothing behind the race begin before this
    /// is stored.
    #[inline]
    fn race_decided(&self, scope: &Scope<'_>) {
        let _ = scope;
    }

    /// Called when the current node has taken an action.
    #[inline]
    fn node_finished(&self, scope: &Scope<'_>, action: &str) {
        let _ = (scope, action);
    }

    /// Called when an attempt at a flow used as a node failed. The scope is that of the attempt.
    #[inline]
    fn flow_failed(&self, scope: &Scope<'_>, failed: &Failed) {
        let _ = (scope, failed);
    }

    /// Called when the fork or the loop over items at the current node has failed, because a branch
    /// or an item has. The rest of its work is dropped.
    #[inline]
    fn composite_failed(&self, scope: &Scope<'_>, failed: &Failed) {
        let _ = (scope, failed);
    }

    /// Decides whether a flow that has failed is undone. An engine that can continue the flow after
    /// this failure returns false. `is_handled` is true if the flow around it goes on after the failure.
    #[inline]
    fn undoes(&self, failed: &FlowError, is_handled: bool) -> bool {
        let _ = (failed, is_handled);
        true
    }

    /// Called when a flow forgets what it has done: the step `commit`.
    #[inline]
    fn committed(&self, scope: &Scope<'_>) {
        let _ = scope;
    }

    /// Called before a flow forgets what it has done. An engine that runs a flow again returns only when
    /// it knows that the flow came to do so.
    fn before_commit(&self, scope: &Scope<'_>) -> impl Future<Output = ()> + Send {
        let _ = scope;
        std::future::ready(())
    }

    /// Called before a visit is undone, with its number and the place of its undo node. Returns false
    /// if the engine has forgotten the visit meanwhile.
    fn before_undo(&self, number: u64, undo: &Place) -> impl Future<Output = bool> + Send {
        let _ = (number, undo);
        std::future::ready(true)
    }

    /// Called when the undo node of a visit begins. The scope is that of the undo node. It does not
    /// count as a step: a run whose budget is used up is undone too.
    #[inline]
    fn undo_started(&self, scope: &Scope<'_>) {
        let _ = scope;
    }

    /// Called when a visit is undone. The scope is that of the undo node.
    #[inline]
    fn undo_finished(&self, scope: &Scope<'_>) {
        let _ = scope;
    }

    /// Called when an undo node has failed for good, with a [`FlowError::NotUndone`]. Returns the
    /// error with which the run ends. An engine that can try again later never returns.
    fn undo_failed(
        &self,
        scope: &Scope<'_>,
        failed: Failed,
    ) -> impl Future<Output = Failed> + Send {
        let _ = scope;
        async move { failed }
    }

    /// Returns the error of a run that is cancelled from outside, once it is. A flow that can be
    /// undone waits for it beside its steps. By default, it never is: the run is dropped.
    fn cancelled(&self, scope: &Scope<'_>) -> impl Future<Output = Failed> + Send {
        let _ = scope;
        std::future::pending()
    }

    /// Called when a flow, the run's own or one used as a node, has reached an end.
    #[inline]
    fn flow_ended(&self, scope: &Scope<'_>, end: &str) {
        let _ = end;
        scope.leave();
    }
}

/// A branch of a race.
#[derive(Debug, Clone, Copy)]
pub struct RaceBranch<'a> {
    /// The indices of its nodes.
    pub nodes: &'a [u16],
    /// The action that the race takes if this branch is the first one. `None` if the last node of the
    /// branch decides it.
    pub action: Option<&'a str>,
}

/// A loop whose items may run elsewhere, in parts.
#[derive(Debug, Clone, Copy)]
pub struct Spread<'a> {
    /// The key of the collection: a [`Sequence`](crate::Sequence).
    pub over: &'a str,
    /// The keys that the loop and its body read, the collection among them.
    pub reads: &'a [&'a str],
    /// The key of the results. `None` if the body returns nothing.
    pub results: Option<&'a str>,
    /// The number of items.
    pub items: usize,
    /// The number of items in each part except the last one. At least 1.
    pub each: u32,
}

/// The calls from a run to its engine between two nodes, with the values of the flow. `S` is a type
/// that each flow generates. With the feature `stored`, it is a `StoredState<Json>` if all of its
/// values are `Serialize` and `Deserialize`.
pub trait StateHooks<S>: Hooks {
    /// Called before a node runs, with its index and the state before it.
    ///
    /// # Errors
    ///
    /// The run's budget is used up.
    #[inline]
    fn before_node(&self, scope: &Scope<'_>, node: u16, state: &S) -> Result<(), Failed> {
        let _ = state;
        self.node_started(scope, node)
    }

    /// Called when the current node took an action that leads to `node`, with the state between.
    ///
    /// # Errors
    ///
    /// The run's budget is used up.
    #[inline]
    fn after_node(
        &self,
        scope: &Scope<'_>,
        action: &str,
        node: u16,
        state: &S,
    ) -> Result<(), Failed> {
        self.node_finished(scope, action);
        self.before_node(scope, node, state)
    }

    /// Runs the items of a loop `with spread(…)`, the current node, with the state before them.
    /// `here` runs them, and returns a state that has nothing but the results. An engine can let
    /// others run parts of the items instead, and return their results in such a state.
    ///
    /// # Errors
    ///
    /// The loop has failed.
    #[inline]
    fn spread<W>(
        &self,
        scope: &Scope<'_>,
        spread: Spread<'_>,
        state: &S,
        here: W,
    ) -> impl Future<Output = Result<S, Failed>> + Send
    where
        W: Future<Output = Result<S, Failed>> + Send,
    {
        let _ = (scope, spread, state);
        here
    }

    /// Called when a visit to the current node is done that can be undone, with the values that its
    /// undo node will read: the state has no others. An engine keeps them: see
    /// [`Run::add_undoable`].
    fn undoable(&self, scope: &Scope<'_>, kept: S)
    where
        S: Send + 'static,
    {
        let place = scope.frame().place();
        self.run().add_undoable(place, Box::new(kept));
    }

    /// The values that were kept for a visit.
    ///
    /// # Errors
    ///
    /// They do not fit the flow.
    fn kept(
        &self,
        scope: &Scope<'_>,
        undoable: Undoable,
    ) -> impl Future<Output = Result<S, Failed>> + Send
    where
        S: Send + 'static,
    {
        let kept = kept_values(scope, undoable);
        async move { kept }
    }

    /// Called when the flow has reached an end, with the state there.
    #[inline]
    fn at_end(&self, scope: &Scope<'_>, state: &S) {
        let _ = (scope, state);
    }

    /// The node at which to resume, and the state there. `None` for a fresh run.
    ///
    /// # Errors
    ///
    /// The stored state of the run does not fit the flow.
    #[inline]
    fn resume_from(&self, scope: &Scope<'_>) -> Result<Option<(usize, S)>, Failed> {
        let _ = scope;
        Ok(None)
    }
}

/// A flow that an engine can run: its values and the outcomes of its nodes meet the requirements of
/// the engine. Every flow implements it for every engine without requirements.
#[diagnostic::on_unimplemented(
    message = "the flow `{Self}` cannot run",
    label = "cannot run",
    note = "its definition has a mistake, which is reported there"
)]
pub trait Drive<E>: Flow + Described {
    /// True if visits of the flow can be undone: its own, or those of flows in it.
    const UNDOES: bool = <Self::Runner as Runner>::UNDOES;

    /// Runs it to an end, within a scope. [`run`] calls this for the run's own flow, and flows call
    /// it for their inner flows.
    ///
    /// # Errors
    ///
    /// The run did not reach an end.
    fn drive(
        &self,
        engine: &E,
        scope: &Scope<'_>,
        input: Self::Input,
    ) -> impl Future<Output = Result<Self::Output, Failed>> + Send;

    /// Runs the undo node of a visit of this flow, or of a flow in it. The scope is that of the undo
    /// node, `step` is the step of the visit within this flow.
    ///
    /// # Errors
    ///
    /// The undo node failed, or the flow does not have it.
    fn undo<'a>(
        &'a self,
        engine: &'a E,
        scope: &'a Scope<'a>,
        step: StepKey<'a>,
        undoable: Undoable,
    ) -> BoxFuture<'a, Result<(), Failed>> {
        let _ = (engine, undoable);
        not_undoable(scope, step)
    }
}

/// The error for a visit that a flow cannot undo, although it did in another version.
pub fn not_undoable<'a>(
    scope: &'a Scope<'a>,
    step: StepKey<'a>,
) -> BoxFuture<'a, Result<(), Failed>> {
    let reason = format!("the flow has no undo node for `{step}`");
    let path = scope.frame().path().to_string();
    let error = NodeError::new(path, 1, Failure::Returned(reason.into()));
    ready(Err(error.into())).boxed()
}

/// The values that were kept for a visit, if they are those of the state `S`.
pub(crate) fn kept_values<S: 'static>(scope: &Scope<'_>, undoable: Undoable) -> Result<S, Failed> {
    undoable.kept().ok_or_else(|| {
        let path = scope.frame().path().to_string();
        NodeError::new(path, 1, Failure::Returned(OTHER_FLOW.into())).into()
    })
}

/// The reason for values that another flow has kept.
const OTHER_FLOW: &str = "the values that were kept for the undo node are those of another flow";
