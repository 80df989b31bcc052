//! How a flow is run: one that can be undone in another way than others.
//!
//! The way is a type, and not a test within one future: the future of a flow that cannot be undone
//! has no state for undoing, and costs nothing more for it.

use std::future::Future;

use super::undo::{begin_flow, undo_failed};
use super::{Direct, Drive, Hooks, Observed};
use crate::error::{Failed, FlowError};
use crate::frame::FlowInfo;
use crate::options::RunSettings;
use crate::scope::Scope;
use crate::supervise;

/// What the engine knows of a flow before it runs.
#[doc(hidden)]
pub trait Described {
    /// The names, from which the paths of its nodes are made.
    const INFO: &'static FlowInfo;
    /// The way in which it is run.
    type Runner: Runner;
}

/// A way to run flows.
#[doc(hidden)]
pub trait Runner {
    /// True if it undoes what a flow has done.
    const UNDOES: bool;

    /// See [`run`](super::run).
    fn run<F: Drive<E>, E: Hooks>(
        flow: &F,
        engine: &E,
        input: F::Input,
    ) -> impl Future<Output = Result<F::Output, FlowError>> + Send;

    /// Runs a flow to its end, and catches its panics.
    fn run_direct<F: Drive<Direct>>(
        flow: &F,
        input: F::Input,
    ) -> impl Future<Output = Result<F::Output, FlowError>> + Send;

    /// Runs a flow to its end, and reports to an observer.
    fn run_with<F: for<'r> Drive<Observed<'r>>>(
        flow: &F,
        input: F::Input,
        settings: RunSettings,
    ) -> impl Future<Output = Result<F::Output, FlowError>> + Send;

    /// Drives a flow that is used as a node. `scope` is that of the inner flow. `is_handled` is true
    /// if the flow around it goes on after a failure.
    fn drive<F: Drive<E>, E: Hooks>(
        flow: &F,
        engine: &E,
        scope: &Scope<'_>,
        input: F::Input,
        is_handled: bool,
    ) -> impl Future<Output = Result<F::Output, Failed>> + Send;
}

/// The runner of flows that can be undone, or of those that cannot.
#[doc(hidden)]
#[derive(Debug)]
pub struct RunnerOf<const UNDOES: bool>;

impl Runner for RunnerOf<false> {
    const UNDOES: bool = false;

    #[inline]
    fn run<F: Drive<E>, E: Hooks>(
        flow: &F,
        engine: &E,
        input: F::Input,
    ) -> impl Future<Output = Result<F::Output, FlowError>> + Send {
        supervise::run_not_undone(flow, engine, input)
    }

    #[inline]
    fn run_direct<F: Drive<Direct>>(
        flow: &F,
        input: F::Input,
    ) -> impl Future<Output = Result<F::Output, FlowError>> + Send {
        supervise::run_direct_not_undone(flow, input)
    }

    #[inline]
    fn run_with<F: for<'r> Drive<Observed<'r>>>(
        flow: &F,
        input: F::Input,
        settings: RunSettings,
    ) -> impl Future<Output = Result<F::Output, FlowError>> + Send {
        supervise::run_with_not_undone(flow, input, settings)
    }

    #[inline]
    fn drive<F: Drive<E>, E: Hooks>(
        flow: &F,
        engine: &E,
        scope: &Scope<'_>,
        input: F::Input,
        _is_handled: bool,
    ) -> impl Future<Output = Result<F::Output, Failed>> + Send {
        flow.drive(engine, scope, input)
    }
}

// Boxed: not much is lost, and the futures of the flows around stay small.
impl Runner for RunnerOf<true> {
    const UNDOES: bool = true;

    fn run<F: Drive<E>, E: Hooks>(
        flow: &F,
        engine: &E,
        input: F::Input,
    ) -> impl Future<Output = Result<F::Output, FlowError>> + Send {
        Box::pin(supervise::run_or_undo(flow, engine, input))
    }

    fn run_direct<F: Drive<Direct>>(
        flow: &F,
        input: F::Input,
    ) -> impl Future<Output = Result<F::Output, FlowError>> + Send {
        Box::pin(supervise::run_direct_or_undo(flow, input))
    }

    fn run_with<F: for<'r> Drive<Observed<'r>>>(
        flow: &F,
        input: F::Input,
        settings: RunSettings,
    ) -> impl Future<Output = Result<F::Output, FlowError>> + Send {
        Box::pin(supervise::run_with_or_undo(flow, input, settings))
    }

    fn drive<F: Drive<E>, E: Hooks>(
        flow: &F,
        engine: &E,
        scope: &Scope<'_>,
        input: F::Input,
        is_handled: bool,
    ) -> impl Future<Output = Result<F::Output, Failed>> + Send {
        Box::pin(async move {
            begin_flow(scope);
            let mut outcome = flow.drive(engine, scope, input).await;
            if let Err(failed) = &mut outcome {
                undo_failed(flow, engine, scope, is_handled, failed).await;
            }
            outcome
        })
    }
}

/// Runs a flow to its end, and catches its panics.
#[inline]
pub fn run_direct<F>(
    flow: &F,
    input: F::Input,
) -> impl Future<Output = Result<F::Output, FlowError>> + Send
where
    F: Drive<Direct>,
{
    F::Runner::run_direct(flow, input)
}

/// Runs a flow to its end, and reports to an observer.
#[inline]
pub fn run_with<F>(
    flow: &F,
    input: F::Input,
    settings: RunSettings,
) -> impl Future<Output = Result<F::Output, FlowError>> + Send
where
    F: for<'r> Drive<Observed<'r>>,
{
    F::Runner::run_with(flow, input, settings)
}

/// Runs a flow to an end on an engine. The run stops if it is cancelled or has taken too long.
///
/// # Errors
///
/// See [`Flow::run_with`](crate::Flow::run_with).
///
/// # Cancel safety
///
/// See [`Flow::run`](crate::Flow::run).
#[inline]
pub fn run<F, E>(
    flow: &F,
    engine: &E,
    input: F::Input,
) -> impl Future<Output = Result<F::Output, FlowError>> + Send
where
    F: Drive<E>,
    E: Hooks,
{
    F::Runner::run(flow, engine, input)
}

/// Drives a flow that is used as a node: [`Runner::drive`].
#[inline]
pub fn drive_inner<F, E>(
    flow: &F,
    engine: &E,
    scope: &Scope<'_>,
    input: F::Input,
    is_handled: bool,
) -> impl Future<Output = Result<F::Output, Failed>> + Send
where
    F: Drive<E>,
    E: Hooks,
{
    F::Runner::drive(flow, engine, scope, input, is_handled)
}
