//! The engine that only polls.

use std::future::Future;

use crate::context::Context;
use crate::engine::{AnyOrder, Engine, Hooks, StateHooks, Step};
use crate::error::Failed;
use crate::run::Run;
use crate::scope::Scope;

/// The engine of [`Flow::run`](crate::Flow::run). It only polls: it does not box, allocate or look
/// up anything.
#[derive(Debug)]
pub struct Direct(Run);

impl Direct {
    /// An engine for one run.
    #[inline]
    pub fn new() -> Self {
        Direct(Run::new())
    }

    /// An engine for a run within a step of another one: see [`Run::within`].
    pub fn within(context: &Context) -> Self {
        Direct(Run::within(context))
    }
}

impl Default for Direct {
    fn default() -> Self {
        Direct::new()
    }
}

impl Hooks for Direct {
    type Order = AnyOrder;

    const READS_OUTCOMES: bool = false;

    #[inline]
    fn run(&self) -> &Run {
        &self.0
    }
}

impl<N: Step> Engine<N> for Direct {
    #[inline]
    fn step<'s, W>(
        &self,
        _scope: &'s Scope<'s>,
        work: W,
    ) -> impl Future<Output = Result<N::Outcome, Failed>> + Send
    where
        W: Future<Output = Result<N::Outcome, Failed>> + Send,
    {
        work
    }
}

impl<S> StateHooks<S> for Direct {}
