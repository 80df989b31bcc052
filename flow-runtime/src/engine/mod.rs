//! Engines, which run the steps of flows: the interface for writing your own.
//!
//! `flow!` generates one loop for each flow, generic over its engine. A node's work reaches the
//! engine as a future that has not been polled. [`Direct`], the engine of [`Flow::run`], polls it
//! and does nothing else. The engine of durable runs returns the recorded outcome instead, if there
//! is one. An engine for tests returns what the test says.
//!
//! An engine implements three traits:
//!
//! - [`Hooks`] belongs to the run as a whole. It is told which nodes begin and end, and it waits
//!   and asks people.
//! - [`Engine`] runs the steps of a node. An engine that requires something of the outcomes, such
//!   as that they can be stored, implements it only for nodes whose outcomes meet that.
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
mod carry_out;
mod direct;
mod loops;
mod nested;
mod observed;
mod visits;

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use crate::flow::{Described, Flow};

#[cfg(feature = "stored")]
pub use self::any_flow::{AnyFlow, RunError, accepted_input};
pub use self::carry_out::carry_out;
pub use self::direct::Direct;
#[doc(hidden)]
pub use self::loops::{loop_started, spread_results};
pub use self::observed::Observed;
pub use self::visits::Visits;
pub use crate::error::Failed;
#[cfg(feature = "stored")]
pub use crate::exact::{Inexact, parse_json, to_json, to_json_text, unchanged};
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
#[cfg(feature = "stored")]
pub use crate::question::{QuestionType, ask};
pub use crate::run::Run;
pub use crate::scope::Scope;
pub use crate::step::Step;
pub use crate::step_key::{Index, NodePath, Segment, StepKey};
#[cfg(feature = "stored")]
pub use crate::stored::{StoredFlow, StoredOutput, StoredState};
pub use crate::supervise::run;
#[cfg(feature = "stored")]
pub use crate::supervise::run_any;
pub use crate::visit::Visit;

/// Runs the steps of a node.
//
// The bound is on each node so that an engine which stores outcomes can require something of their
// types, while `Direct` requires nothing. (A bound on the outcome itself would name its type where
// rustc erases lifetimes, and then `&'static str` is not `Send` enough.)
pub trait Engine<N: Step>: Hooks {
    /// Runs one step, or returns its outcome without running it. The scope is at the node. `work`
    /// does everything in the node's settings: it tries again, applies the timeout, and falls back.
    ///
    /// # Errors
    ///
    /// The step failed: an `"error"` edge leads on, or the run fails.
    fn step<'s, W>(
        &self,
        scope: &'s Scope<'s>,
        work: W,
    ) -> impl Future<Output = Result<N::Outcome, Failed>> + Send
    where
        W: Future<Output = Result<N::Outcome, Failed>> + Send;
}

/// What an engine is told and asked, apart from the steps themselves.
pub trait Hooks: Send + Sync {
    /// Whether it does anything with the outcomes of steps but return them. If it does not, a flow
    /// that was loaded writes what a node returns to its state within the work of the step, and the
    /// engine gets an outcome without it.
    const READS_OUTCOMES: bool = true;

    /// The order in which the items of loops have to come: [`SameOrder`] for an engine that runs a flow
    /// again from what it has stored, as after a crash, and [`AnyOrder`] for all others.
    type Order: LoopOrder;

    /// The run that it drives.
    fn run(&self) -> &Run;

    /// A node is about to run, by its index. Moves the scope there and counts the step.
    ///
    /// # Errors
    ///
    /// The run's budget is used up.
    #[inline]
    fn node_started(&self, scope: &Scope<'_>, node: u16) -> Result<(), Failed> {
        scope.frame().enter(node);
        self.run().count_step(scope.frame())
    }

    /// An item of the loop that is the current node is about to run. There are as many items as the
    /// collection has, so they do not count as steps.
    #[inline]
    fn item_started(&self, scope: &Scope<'_>) {
        let _ = scope;
    }

    /// The index of the first item that the loop runs here, which is the current node: 0, unless this
    /// run has only a [part](Spread) of the items.
    #[inline]
    fn first_item(&self, scope: &Scope<'_>) -> u32 {
        let _ = scope;
        0
    }

    /// A loop that is the current node begins, with this many items. Not called if the collection does
    /// not know how many it has.
    #[inline]
    fn loop_started(&self, scope: &Scope<'_>, items: usize) {
        let _ = (scope, items);
    }

    /// Runs a flow that is the current node, within the time that the flow around it allows.
    /// `attempt` counts from 0. Returns `None` if it took longer.
    fn within_timeout<T: Send>(
        &self,
        scope: &Scope<'_>,
        attempt: u32,
        after: Duration,
        work: Pin<&mut (impl Future<Output = T> + Send)>,
    ) -> impl Future<Output = Option<T>> + Send {
        let _ = (scope, attempt);
        async move { tokio::time::timeout(after, work).await.ok() }
    }

    /// Waits before another attempt at a flow that is the current node. `attempt` counts from 0.
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

    /// Decides whether another attempt follows the failure of a flow that is the current node, by a
    /// function of the flow around it. `attempt` counts from 0. An engine that runs a flow again
    /// after a crash returns what was decided before.
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

    /// Asks a person for a value of this type, and waits for the answer. By default, an engine asks
    /// the `Answer` of the run's options ([`ask`]).
    ///
    /// # Errors
    ///
    /// There is no answer, none in time, or one of another type.
    #[cfg(feature = "stored")]
    fn ask_any(
        &self,
        visit: Visit<'_>,
        question: QuestionType,
        prompt: String,
    ) -> impl Future<Output = Result<serde_json::Value, Failed>> + Send {
        ask(self.run(), visit, question, prompt)
    }

    /// Asks a person for an `N`: [`ask_any`](Hooks::ask_any), with the answer as a value. An engine
    /// that has values instead of JSON overrides it.
    ///
    /// # Errors
    ///
    /// As [`ask_any`](Hooks::ask_any).
    #[cfg(feature = "stored")]
    fn ask<N: crate::Human>(
        &self,
        visit: Visit<'_>,
        prompt: String,
    ) -> impl Future<Output = Result<N, Failed>> + Send {
        async move {
            let answer = self.ask_any(visit, QuestionType::of::<N>(), prompt).await?;
            N::from_json(answer).map_err(|error| crate::question::of_another_type(&visit, &error))
        }
    }

    /// A recorded outcome or answer does not fit its type, which only the flow knows: a flow that was
    /// loaded calls this. By default, the node fails. An engine that can end the run otherwise never
    /// returns.
    fn unreadable(&self, scope: &Scope<'_>, reason: String) -> impl Future<Output = Failed> + Send {
        async move {
            let path = scope.frame().path().to_string();
            crate::NodeError::new(path, 1, Failure::Returned(reason.into())).into()
        }
    }

    /// The flow pauses: `wait(…)` between two nodes.
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

    /// The current node took an action.
    #[inline]
    fn node_finished(&self, scope: &Scope<'_>, action: &str) {
        let _ = (scope, action);
    }

    /// An attempt at a flow used as a node has failed. The scope is that of the attempt.
    #[inline]
    fn flow_failed(&self, scope: &Scope<'_>, failed: &Failed) {
        let _ = (scope, failed);
    }

    /// A fork or a loop over items that is the current node has failed, because a branch or an item
    /// has. What else ran in it is dropped.
    #[inline]
    fn composite_failed(&self, scope: &Scope<'_>, failed: &Failed) {
        let _ = (scope, failed);
    }

    /// A flow, the run's own or one used as a node, reached an end.
    #[inline]
    fn flow_ended(&self, scope: &Scope<'_>, end: &str) {
        let _ = end;
        scope.leave();
    }
}

/// A loop whose items may run in parts, each of them elsewhere.
#[derive(Debug, Clone, Copy)]
pub struct Spread<'a> {
    /// The key of the collection: a [`Sequence`](crate::Sequence).
    pub over: &'a str,
    /// The keys that the loop and its body read, the collection among them.
    pub reads: &'a [&'a str],
    /// The key of the results. `None` if the body returns nothing.
    pub results: Option<&'a str>,
    /// How many items there are.
    pub items: usize,
    /// How many items a part has, but for the last one: at least 1.
    pub each: u32,
}

/// What an engine does with the values of a flow, between one node and the next. `S` is a type that
/// each flow generates; with the feature `stored`, it is a `StoredState<Json>` if all of its values
/// are `Serialize` and `Deserialize`.
pub trait StateHooks<S>: Hooks {
    /// A node is about to run, by its index, and this is the state before it.
    ///
    /// # Errors
    ///
    /// The run's budget is used up.
    #[inline]
    fn before_node(&self, scope: &Scope<'_>, node: u16, state: &S) -> Result<(), Failed> {
        let _ = state;
        self.node_started(scope, node)
    }

    /// The current node took an action that leads to this node, and this is the state between them.
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

    /// A loop `with spread(…)` is the current node, and this is the state before its items. `here`
    /// runs them, and returns a state that has nothing but the results. An engine can let others run
    /// parts of the items instead, and return their results in such a state.
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

    /// The flow has reached an end, and this is the state there.
    #[inline]
    fn at_end(&self, scope: &Scope<'_>, state: &S) {
        let _ = (scope, state);
    }

    /// Where to resume, and the state at that node. `None` for a fresh run.
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

/// A flow that an engine can run: the outcomes of its nodes and its values meet what the engine
/// requires. Every flow implements it for every engine that requires nothing.
#[diagnostic::on_unimplemented(
    message = "the flow `{Self}` cannot run",
    label = "cannot run",
    note = "its definition has a mistake, which is reported there"
)]
pub trait Drive<E>: Flow + Described {
    /// Runs it to an end, within a scope. [`run`] calls this for the run's own flow, and flows call
    /// it for their inner flows.
    ///
    /// # Errors
    ///
    /// Why the run did not reach an end.
    fn drive(
        &self,
        engine: &E,
        scope: &Scope<'_>,
        input: Self::Input,
    ) -> impl Future<Output = Result<Self::Output, Failed>> + Send;
}
