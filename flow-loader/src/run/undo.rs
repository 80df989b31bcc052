//! The visits of a loaded flow that can be undone.

use std::sync::Arc;

use flow_runtime::__private::{BoxFuture, not_undoable};
use flow_runtime::engine::{Failed, FlowInfo, Scope, StateHooks, StepKey, Undo, Undoable};
use flow_spec::{ERROR_ACTION, TIMEOUT_ACTION};

use super::engine::{LoadedEngine, or_unreadable};
use super::state::LoadedState;
use super::step::{call, opened, work};
use crate::level::{Kind, Level, Node, RouteIndex};
use crate::place::Place;

impl<E: LoadedEngine> Undo<E> for Level {
    fn undoes(&self) -> bool {
        self.undoes
    }

    fn info(&self) -> &FlowInfo {
        &self.info
    }

    fn undo_visit<'a>(
        &'a self,
        engine: &'a E,
        scope: &'a Scope<'a>,
        step: StepKey<'a>,
        undoable: Undoable,
    ) -> BoxFuture<'a, Result<(), Failed>> {
        let (first, rest) = step.first();
        let node = self.nodes.iter().find(|node| node.name == first.name);
        let of_flow = |node: &'a Node| match &node.kind {
            Kind::Flow(inner) => Some(&**inner),
            _ => None,
        };
        let inner = node.and_then(|node| match &node.kind {
            // The nodes in its branches are nodes of this flow.
            Kind::Fork { .. } | Kind::Race(_) => Some(self),
            Kind::Each { body, .. } => of_flow(self.node(*body)),
            _ => of_flow(node),
        });
        if let Some(inner) = inner {
            return inner.undo_visit(engine, scope, rest, undoable);
        }
        match node.and_then(|node| node.undo) {
            Some(undo) => Box::pin(take_back(self, engine, scope, self.node(undo), undoable)),
            None => not_undoable(scope, step),
        }
    }
}

/// Runs an undo node with the values that were kept for it.
async fn take_back<E: LoadedEngine>(
    level: &Level,
    engine: &E,
    scope: &Scope<'_>,
    node: &Node,
    undoable: Undoable,
) -> Result<(), Failed> {
    let (Kind::Step { adapter, .. }, Some(step)) = (&node.kind, node.step()) else {
        unreachable!("the analysis accepted an undo node that is no function and no type")
    };
    let kept = StateHooks::<LoadedState>::kept(engine, scope, undoable).await?;
    let mut cells = or_unreadable(engine, scope, kept.into_cells(level)).await?;
    let mut call = call::<E>(scope, node, step, Place::Loop(&mut cells));
    let outcome = engine.step(scope, work(node, step, &mut call)).await?;
    if !outcome.is_handed_on() {
        opened(engine, scope, adapter, outcome).await?;
    }
    Ok(())
}

/// Keeps what the undo node of a node will read, if a visit that has `left` the node so is done.
#[cold]
pub(super) fn keep<E: LoadedEngine>(
    level: &Arc<Level>,
    engine: &E,
    scope: &Scope<'_>,
    node: &Node,
    left: &Result<Option<RouteIndex>, Failed>,
    place: Place<'_>,
) {
    let (Some(undo), Ok(route)) = (node.undo, left) else {
        return;
    };
    let action = route.map(|RouteIndex(route)| node.routes[route].action.as_str());
    if action.is_some_and(|action| [ERROR_ACTION, TIMEOUT_ACTION].contains(&action)) {
        return;
    }
    let around = place.around();
    let keys = level.node(undo).ports.reads.iter();
    let keys = keys.filter_map(|read| read.key);
    let values = keys.filter_map(|key| {
        let value = around.get(key)?;
        Some((key, level.key(key).ty.cloned_box(value)))
    });
    let kept = LoadedState::with(level, values);
    StateHooks::<LoadedState>::undoable(engine, scope, kept);
}
