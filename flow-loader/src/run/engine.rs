//! The engine's view of a loaded flow.

use flow_runtime::engine::{Engine, Failed, Scope, StateHooks, Step, Unstorable};

use crate::outcome::Outcome;
use crate::run::state::LoadedState;

/// A node of a loaded flow, as engines see it. Engines do not know which one it is: the path of its
/// visit identifies it.
#[derive(Debug)]
pub struct LoadedNode;

impl Step for LoadedNode {
    type Outcome = Outcome;
    type Actions = ();

    fn outcome_type(outcome: &Outcome) -> &'static str {
        outcome.type_name()
    }

    fn read_back(outcome: &Outcome, read: Outcome) -> Result<Outcome, String> {
        outcome.read_back(read)
    }
}

/// An engine that runs loaded flows. It requires nothing of outcomes and values, or that they can
/// be stored.
pub trait LoadedEngine: Engine<LoadedNode> + StateHooks<LoadedState> {}

impl<E: Engine<LoadedNode> + StateHooks<LoadedState>> LoadedEngine for E {}

/// The value that was written as JSON or read from it, unless that failed.
pub(super) async fn or_unreadable<E: LoadedEngine, T>(
    engine: &E,
    scope: &Scope<'_>,
    value: Result<T, Unstorable>,
) -> Result<T, Failed> {
    match value {
        Ok(value) => Ok(value),
        Err(unfit) => Err(engine.unreadable(scope, unfit.to_string()).await),
    }
}
