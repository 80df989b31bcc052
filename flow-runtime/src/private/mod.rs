//! The items to which generated code refers. They are not part of the public interface, and may
//! change in any release.

mod failures;
mod generated;
mod items;
mod once;
mod printed;
mod transaction;
mod values;

use std::future::Ready;
use std::marker::PhantomData;
use std::num::NonZeroU32;
use std::time::Duration;

pub use core::ops::ControlFlow;
pub use core::option::Option::{self, None, Some};
pub use core::result::Result::{self, Err, Ok};
pub use flow_macros::__node_contract as node_contract;
pub use futures_util::future::BoxFuture;
pub use inventory;

pub use crate::action::Action;
pub use crate::checked::{
    Checked, GoesBetweenThreads, ReadByReference, Reads, ReadsOthers, SharedByRuns,
};
pub use crate::concurrent::{AtOnce, InOrder, Limit, blocking, blocking_with, numbered};
pub use crate::embed::{
    Inner, LinkedFlow, Spec, embed, inner, joined, joined_length, linked, spec, spec_of,
};
pub use crate::engine::not_undoable;
pub use crate::engine::runner::{Described, RunnerOf, drive_inner, run_direct, run_with};
pub use crate::engine::undo::{
    begin_flow, commit_visits, finish_branches, poll_branch, under_way, undo_failed, undo_visits,
};
#[cfg(feature = "stored")]
pub use crate::engine::until_cancelled;
pub use crate::engine::{
    Drive, Engine, FlowInfo, Hooks, RaceBranch, Scope, Spread, StateHooks, Step, StepKey,
    loop_started, spread_results,
};
pub use crate::error::{Failed, FlowError};
pub use crate::flow::{Flow, Route, Running, Target};
pub use crate::nesting::{Inside, Nesting, NothingInside};
pub use crate::node_error::{Failure, NodeError, Phase};
pub use crate::options::RunSettings;
pub use crate::ordered::{OrderOf, Sequence};
pub use crate::policy::{Policy, Retry, RetryIf};
pub use crate::question::{AsksPeople, Unasked};
pub use crate::requirement::{
    NoValue, OpensTransactions, ReceivesSignals, Untransacted, WithoutSignals,
};
pub use crate::spec_text::as_text;
#[cfg(feature = "stored")]
pub use crate::supervise::supervised;
pub use crate::undo_list::Undoable;
pub use crate::visit::{Attempts, IntoFailure, Poll, Visit};

pub use failures::{Fallible, collect, is_deadline, node_error};
pub use once::{Failing, NodeFuture, Once, infallible, once};
pub use printed::{Printed, PrintedDebug, PrintedOpaque, printed, printed_without_fields};
pub use transaction::{Begun, InTransaction};
pub use values::{
    AddOf, AddsNothing, BeginOf, BeginsNowhere, CloneOf, Cloneable, DerefsTo, DerefsTwiceTo, Lend,
    LendOther, LendSame, LendTarget, LendTargetOfTarget, LosesNoError, NoClone, NoDeref,
    NoDerefTwice, NoDisplay, NoResult, OtherType, OwnedForPool, Prints, ReadsAs, ReadsError,
    ResultCheck, RunContext, SameType, TakeItem, at_end, count, either, get, items, must, take,
    written,
};

/// The type that a node's parameter `&Context` names. Imported where nothing else has its name.
pub mod context {
    pub use crate::context::Context;
}

/// The type that port number `INDEX` writes: a port of a node, of an enum of actions, or of a flow
/// used as a node.
pub trait Writes<const INDEX: usize> {
    /// The type.
    type Type;
}

/// The type that a node reads port number `INDEX` as, if it is a type of the user. For the message
/// about a key of another type.
pub trait ReadsAt<const INDEX: usize> {
    /// The type.
    type Type: ?Sized;
}

/// Stands in for the methods of a flow whose definition has errors, so that code that uses the flow
/// has no second error. A sound flow has an inherent method of the same name, which takes
/// precedence.
pub trait Unresolved {
    /// The JSON of a flow that has a mistake.
    const __INNER: Inner = Inner::NOTHING;

    /// False, so that code that runs the flow has no further error.
    const __ASKS_PEOPLE: bool = false;

    /// False, so that code that runs the flow has no further error.
    const __OPENS_TRANSACTIONS: bool = false;

    /// False, so that code that runs the flow has no further error.
    const __RECEIVES_SIGNALS: bool = false;

    /// True, so that a timeout of the flow is not a further error.
    const __AWAITS: bool = true;

    /// False, so that a loop over the flow has no further error.
    const __UNDOES: bool = false;

    /// Adds no values.
    #[cfg(feature = "json")]
    fn __values(&self, _values: &mut crate::export::Values) {}

    /// No node gets a value from outside.
    #[cfg(feature = "stored")]
    fn __external(_path: &str) -> Option<ExternalType>
    where
        Self: Sized,
    {
        None
    }

    /// Never called.
    fn __run_direct<T>(&self, _input: impl Sized) -> Ready<Result<T, FlowError>> {
        unreachable!("a flow whose definition has errors does not compile")
    }

    /// Never called.
    fn __run_observed<T>(
        &self,
        _input: impl Sized,
        _settings: RunSettings,
    ) -> Ready<Result<T, FlowError>> {
        unreachable!("a flow whose definition has errors does not compile")
    }
}

impl<F: ?Sized> Unresolved for F {}

/// A type that can be a node of a flow: one with `#[node]` on an `impl` block with `exec`, one with
/// `#[node(human = "…")]` or `#[node(signal)]`, or a flow. Only these attributes and `flow!`
/// implement it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a node",
    label = "not a node",
    note = "a type becomes a node by `#[node]` on an `impl` block with `exec`, a function by `#[node]` on it"
)]
pub trait Node {
    /// The type of the value that a flow holds for it.
    #[doc(hidden)]
    type Held;
    /// The flows in it.
    #[doc(hidden)]
    type Inside: Inside;
    /// Compiles for nodes only.
    #[doc(hidden)]
    const IS_NODE: () = ();
}

/// The value that a flow holds for a node `N`.
pub trait Holds<N> {
    /// The value.
    fn holding(node: N) -> Self;
}

impl<N> Holds<N> for N {
    fn holding(node: N) -> Self {
        node
    }
}

/// Holds no value, since it comes from outside.
impl<N> Holds<N> for NoValue<N> {
    fn holding(_: N) -> Self {
        NoValue::default()
    }
}

/// The value that a flow holds for a node.
pub fn hold<N: Node<Held: Holds<N>>>(node: N) -> N::Held {
    Holds::holding(node)
}

/// Finds the default of a node that is used without a declaration, if it has one. Inherent items
/// take precedence over those of the trait.
pub struct DefaultOf<T>(PhantomData<T>);

impl<T: Default> DefaultOf<T> {
    /// The node has a default.
    pub const __HAS_DEFAULT: bool = true;

    /// The value.
    pub fn __value() -> T {
        T::default()
    }
}

/// The fallback for all other nodes. A constant beside each use reports the mistake.
pub trait NoDefault {
    /// The type of the node.
    type Value;
    /// The node has no default.
    const __HAS_DEFAULT: bool = false;

    /// Never called.
    fn __value() -> Self::Value {
        unreachable!("a flow with a node that has no value does not compile")
    }
}

impl<T> NoDefault for DefaultOf<T> {
    type Value = T;
}

/// A node's type with a default. The lifetime has no meaning: a bound without one would have to
/// hold where a flow is defined.
pub trait HasDefault<'a>: Sized {
    /// The value.
    fn value() -> Self;
}

#[diagnostic::do_not_recommend]
impl<T: Default> HasDefault<'_> for T {
    fn value() -> Self {
        T::default()
    }
}

/// Types with which an export reads the values of a flow: see `values!`.
#[cfg(feature = "json")]
pub use crate::export::private as export_values;

#[cfg(feature = "stored")]
pub use crate::__external as external_type;
#[cfg(feature = "stored")]
pub use crate::error_types::{ErrorType, ErrorTypeOf, OtherError};
#[cfg(feature = "stored")]
pub use crate::external::{External, ExternalType, Form, FormOf, NoForm};
#[cfg(feature = "stored")]
pub use crate::input::{InputError, InputReader};
#[cfg(feature = "stored")]
pub use crate::json::{Json, Keep, Saved, Stored, Unstorable};
#[cfg(feature = "stored")]
pub use crate::signal::Signal;
#[cfg(feature = "stored")]
pub use crate::stored::{StoredFlow, StoredOutput, StoredState, first_segment};
pub use crate::{
    __asks_people as asks_people, __awaits as awaits, __error_type as error_type,
    __export_flow as export, __flow_after_node as after_node, __flow_builder as builder,
    __flow_debug as debug, __flow_drive as drive, __flow_field as field, __flow_inside as inside,
    __flow_itself as itself, __flow_names as names, __flow_outcome as outcome,
    __flow_requirements as requirements, __flow_resume as resume, __flow_runs as runs,
    __flow_state as state, __flow_stored as stored, __flow_values as values, __human_node as human,
    __named_macro as named_macro, __opens_transactions as opens_transactions,
    __receives_signals as receives_signals, __signal_node as signal, __undoes as undoes,
};
#[cfg(feature = "stored")]
pub use serde_json::Value;

/// A flow with inherent methods that run it. `methods` is never called: it keeps them from being
/// reported as unused in a flow that only generic code runs.
pub trait Runs {
    /// Names the methods.
    fn methods();
}

/// An edge from a node to a node, in the table of a flow.
pub const fn edge<N: Copy, E: Copy>(from: N, action: &'static str, to: N) -> Route<N, E> {
    Route {
        from: Some(from),
        action,
        to: Target::Node(to),
    }
}

/// A retry policy whose numbers the macro has checked.
pub const fn retry(
    attempts: u32,
    wait: Duration,
    backoff: f64,
    max_wait: Duration,
    jitter: f64,
) -> Retry {
    let Some(attempts) = NonZeroU32::new(attempts) else {
        panic!("the macro checks that there is an attempt")
    };
    Retry {
        attempts,
        wait,
        backoff,
        max_wait,
        jitter,
        only_if: None,
    }
}

/// The value that a loop over items collects from each run of a flow.
pub trait Collected {
    /// The output of a run of the flow.
    type Output;
    /// The collected value: the only output, or all of them.
    type Item;
    /// Takes the item out of the output.
    fn collected(output: Self::Output) -> Self::Item;
}
