//! The loop over the nodes of a flow, and the nodes that contain others. Both call each other.

use std::pin::pin;
use std::sync::Arc;

use flow_runtime::__private::{
    Limit, begin_flow, commit_visits, is_deadline, node_error, under_way, undo_failed, undo_visits,
};
use flow_runtime::engine::{Failed, RaceBranch, Scope, StateHooks, Unstorable, Visit};
use flow_spec::{DEFAULT_ACTION, Take};
use futures_util::future::BoxFuture;
use serde_json::Value;

use crate::args::Args;
use crate::cell::{AnyValue, Cell};
use crate::level::{Branch, Kind, Level, Node, Route, RouteIndex, Target};
use crate::outcome::Outcome;
use crate::place::{Cells, Place};
use crate::ports::{NodeIndex, Write};
use crate::run::branches::{states_of_branches, write_back};
use crate::run::conditions::first_that_holds;
use crate::run::each::{each, spread};
use crate::run::engine::{LoadedEngine, or_unreadable};
use crate::run::give_way::{give_way, has_run_for_long};
use crate::run::join::{all, first};
use crate::run::state::{LoadedState, read, returned, written};
use crate::run::step::{call, from_outside, opened, work};
use crate::run::undo::keep;
use crate::stack::flow_with_stack;

/// Runs a flow to an end, and returns the label of the end.
pub(crate) async fn drive<'l, E: LoadedEngine>(
    level: &'l Arc<Level>,
    engine: &E,
    scope: &Scope<'_>,
    state: &mut LoadedState,
) -> Result<&'l str, Failed> {
    let end = to_an_end(level, engine, scope, state).await?;
    engine.at_end(scope, state);
    engine.flow_ended(scope, end);
    Ok(end)
}

async fn to_an_end<'l, E: LoadedEngine>(
    level: &'l Arc<Level>,
    engine: &E,
    scope: &Scope<'_>,
    state: &mut LoadedState,
) -> Result<&'l str, Failed> {
    if !level.start.mappings.is_empty() {
        follow(level, &level.start, state.cells_mut());
    }
    let mut at = match &level.start.to {
        Target::Node(first) => *first,
        Target::End(end) => return Ok(end),
    };
    if let Some((node, saved)) = StateHooks::<LoadedState>::resume_from(engine, scope)? {
        match saved.of(level) {
            Ok(saved) => *state = saved,
            Err(unstorable) => return Err(engine.unreadable(scope, unstorable.to_string()).await),
        }
        at = NodeIndex(node);
    }
    engine.before_node(scope, at.0 as u16, state)?;
    loop {
        let node = level.node(at);
        // Like `visit`, but without a separate future.
        let left = match node.step() {
            Some(step) => {
                let place = Place::Loop(state.cells_mut());
                let mut call = call::<E>(scope, node, step, place);
                let outcome = engine.step(scope, work(node, step, &mut call));
                let outcome = match node.undo {
                    None => outcome.await,
                    Some(_) => Box::pin(under_way(scope, outcome)).await,
                };
                match outcome {
                    Ok(outcome) if outcome.is_handed_on() => {
                        Ok(node.route_of(state.cells_mut().action))
                    }
                    Ok(outcome) => {
                        let place = Place::Loop(state.cells_mut());
                        write(engine, scope, node, place, outcome).await
                    }
                    Err(failed) => Err(failed),
                }
            }
            None => match &node.kind {
                Kind::Each {
                    spread: Some(part), ..
                } => spread_loop(level, engine, scope, (at, *part), state).await,
                _ => visit_part(level, engine, scope, at, Place::Loop(state.cells_mut())).await,
            },
        };
        if node.undo.is_some() {
            keep(
                level,
                engine,
                scope,
                node,
                &left,
                Place::Loop(state.cells_mut()),
            );
        }
        let route = taken(level, node, left, state.cells_mut())?;
        match &route.to {
            Target::Node(next) => {
                engine.after_node(scope, &route.action, next.0 as u16, state)?;
                at = *next;
                if has_run_for_long() {
                    give_way().await;
                }
            }
            Target::End(end) => {
                engine.node_finished(scope, &route.action);
                return Ok(end);
            }
        }
    }
}

/// Returns the route that a node takes, after writing the keys that its edge maps.
#[inline]
fn taken<'l>(
    level: &Level,
    node: &'l Node,
    left: Result<Option<RouteIndex>, Failed>,
    cells: &mut Cells,
) -> Result<&'l Route, Failed> {
    let route = match left {
        Ok(Some(route)) => route,
        Ok(None) => unreachable!(
            "the analysis accepted an action of `{}` without a route",
            node.name
        ),
        Err(failed) => failed_route(level, node, failed, cells)?,
    };
    let route = &node.routes[route.0];
    if !route.mappings.is_empty() {
        follow(level, route, cells);
    }
    Ok(route)
}

/// Writes the keys that an edge maps. All values are taken before one of them is written.
fn follow(level: &Level, route: &Route, cells: &mut Cells) {
    let taken = route.mappings.iter().map(|mapping| match mapping.take {
        Take::Move => cells.cell(mapping.source).remove(),
        Take::Clone { .. } => cells.cloned(mapping.source, level.key(mapping.source).ty),
    });
    let taken: Vec<Option<AnyValue>> = taken.collect();
    for (mapping, value) in route.mappings.iter().zip(taken) {
        *cells.cell(mapping.key) = Cell::from(value);
    }
}

fn failed_route(
    level: &Level,
    node: &Node,
    failed: Failed,
    cells: &mut Cells,
) -> Result<RouteIndex, Failed> {
    if let (true, Some(route)) = (is_deadline(&failed), node.timeout) {
        return Ok(route);
    }
    let Some(route) = node.error else {
        return Err(failed);
    };
    let error = node_error(failed)?;
    if let Some(key) = level.error {
        cells.cell(key).put(error);
    }
    Ok(route)
}

/// Runs a node of a branch, and writes its outcome. Returns the action of the race, if it decides
/// one.
async fn visit<E: LoadedEngine>(
    level: &Arc<Level>,
    engine: &E,
    scope: &Scope<'_>,
    at: NodeIndex,
    mut place: Place<'_>,
) -> Result<Option<RouteIndex>, Failed> {
    let node = level.node(at);
    let Some(step) = node.step() else {
        let left = visit_part(level, engine, scope, at, place).await;
        return left.or_else(|failed| late(node, failed));
    };
    let mut call = call::<E>(scope, node, step, place.reborrow());
    let outcome = engine.step(scope, work(node, step, &mut call));
    let outcome = match node.undo {
        None => outcome.await,
        Some(_) => Box::pin(under_way(scope, outcome)).await,
    };
    let outcome = match outcome {
        Ok(outcome) => outcome,
        Err(failed) => return late(node, failed),
    };
    let left = if outcome.is_handed_on() {
        Ok(match &place {
            Place::Branch(_, own) => node.route_of(own.action),
            _ => None,
        })
    } else {
        write(engine, scope, node, place.reborrow(), outcome).await
    };
    if node.undo.is_some() {
        keep(level, engine, scope, node, &left, place);
    }
    left
}

/// The action of a race if an answer did not come in time, or the failure.
#[cold]
fn late(node: &Node, failed: Failed) -> Result<Option<RouteIndex>, Failed> {
    match node.timeout {
        Some(timeout) if is_deadline(&failed) => Ok(Some(timeout)),
        _ => Err(failed),
    }
}

/// Writes the outcome of a node.
fn write<'s, E: LoadedEngine>(
    engine: &'s E,
    scope: &'s Scope<'s>,
    node: &'s Node,
    place: Place<'s>,
    outcome: Outcome,
) -> BoxFuture<'s, Result<Option<RouteIndex>, Failed>> {
    Box::pin(async move {
        let Kind::Step { adapter, .. } = &node.kind else {
            unreachable!("other nodes have no outcome")
        };
        let mut outcome = opened(engine, scope, adapter, outcome).await?;
        let mut args = Args::new(&node.ports, place, E::READS_OUTCOMES);
        let action = (adapter.take_apart)(outcome.slot(), &mut args.writer());
        Ok(node.route_of(action))
    })
}

/// Runs a node that asks a person, belongs to the language, or is another flow. Boxed, because such
/// nodes contain others.
fn visit_part<'s, E: LoadedEngine>(
    level: &'s Arc<Level>,
    engine: &'s E,
    scope: &'s Scope<'s>,
    at: NodeIndex,
    mut place: Place<'s>,
) -> BoxFuture<'s, Result<Option<RouteIndex>, Failed>> {
    Box::pin(async move {
        let node = level.node(at);
        match &node.kind {
            Kind::Step { adapter, .. } => {
                let args = Args::new(&node.ports, place.reborrow(), E::READS_OUTCOMES);
                let mut answer = from_outside(engine, scope, node, adapter, args).await?;
                let mut args = Args::new(&node.ports, place, E::READS_OUTCOMES);
                let action = (adapter.take_apart)(answer.slot(), &mut args.writer());
                Ok(node.route_of(action))
            }
            Kind::Flow(inner) => visit_flow(level, engine, scope, node, inner, place).await,
            Kind::Fork { branches, limit } => {
                let Place::Loop(cells) = place else {
                    unreachable!("a fork is not directly inside a fork")
                };
                let joined = fork(level, engine, scope, branches, *limit, cells).await;
                told(engine, scope, joined)?;
                Ok(node.route_of(0))
            }
            Kind::Race(branches) => {
                let Place::Loop(cells) = place else {
                    unreachable!("a race is not directly inside a fork")
                };
                let raced = race(level, engine, scope, node, branches, cells).await;
                let action = told(engine, scope, raced)?;
                Ok(node.route_of(action))
            }
            Kind::Each { .. } => {
                let results = each(level, engine, scope, at, place.around()).await;
                let results = told(engine, scope, results)?;
                if let (Some(results), Some(Some(write))) = (results, node.ports.writes.first()) {
                    write_results(&mut place, *write, results);
                }
                Ok(node.route_of(0))
            }
            Kind::Branch { cases, otherwise } => {
                let around = place.around();
                let route = first_that_holds(level, node, scope, cases, around).await?;
                Ok(Some(route.unwrap_or(*otherwise)))
            }
            Kind::Wait(duration) => {
                engine.wait(scope, *duration).await?;
                Ok(node.route_of(0))
            }
            Kind::Undo => {
                undo_visits(&**level, engine, scope).await?;
                Ok(node.route_of(0))
            }
            Kind::Commit => {
                commit_visits(engine, scope).await;
                Ok(node.route_of(0))
            }
        }
    })
}

/// Runs a loop whose items an engine may run in parts. Boxed, because it contains other nodes.
fn spread_loop<'s, E: LoadedEngine>(
    level: &'s Arc<Level>,
    engine: &'s E,
    scope: &'s Scope<'s>,
    (at, part): (NodeIndex, u32),
    state: &'s mut LoadedState,
) -> BoxFuture<'s, Result<Option<RouteIndex>, Failed>> {
    Box::pin(async move {
        let node = level.node(at);
        let results = spread(level, engine, scope, (at, part), state).await?;
        if let (Some(results), Some(Some(write))) = (results, node.ports.writes.first()) {
            write_results(&mut Place::Loop(state.cells_mut()), *write, results);
        }
        Ok(node.route_of(0))
    })
}

/// Writes the results of a loop, or adds each of them.
fn write_results(place: &mut Place<'_>, write: Write, results: AnyValue) {
    let Some(addition) = write.addition else {
        return place.write(write, results);
    };
    place.begin(write.key, addition);
    for result in results.open::<Vec<AnyValue>>() {
        place.write(write, result);
    }
}

/// The result of a fork or a loop. Reports a failure to the engine.
fn told<T>(
    engine: &impl LoadedEngine,
    scope: &Scope<'_>,
    result: Result<T, Failed>,
) -> Result<T, Failed> {
    result.inspect_err(|failed| engine.composite_failed(scope, failed))
}

/// The initial state of a flow that is a node.
fn begun(node: &Node, inner: &Arc<Level>, place: Place<'_>) -> Result<LoadedState, Unstorable> {
    let mut args = Args::new(&node.ports, place, false);
    LoadedState::begun(inner, |number, input| {
        let Some(value) = args.take_box(number) else {
            return match (&input.default, input.key) {
                (Some(default), Some(key)) => read(inner.key(key), default.clone()).map(Some),
                _ => Ok(None),
            };
        };
        match node.ports.reads[number].ty {
            Some(ty) if inner.is_untyped(input.key) && !value.get().is::<Value>() => {
                let json = written(&input.name, ty, value.get())?;
                Ok(Some(AnyValue::new(json)))
            }
            _ => Ok(Some(value)),
        }
    })
}

/// Runs another flow, and writes the values that it returns.
async fn visit_flow<E: LoadedEngine>(
    level: &Level,
    engine: &E,
    scope: &Scope<'_>,
    node: &Node,
    inner: &Arc<Level>,
    mut place: Place<'_>,
) -> Result<Option<RouteIndex>, Failed> {
    let handles = node.error.is_some();
    let (mut state, end) = flow(engine, scope, node, inner, handles, place.reborrow()).await?;
    for (write, output) in node.ports.writes.iter().zip(&inner.outputs) {
        let value = returned(output, state.cells_mut());
        let (Some(write), Some(value)) = (write, value) else {
            continue;
        };
        let value = if inner.is_untyped(output.key) {
            let value = read(level.key(write.key), value.open());
            or_unreadable(engine, scope, value).await?
        } else {
            value
        };
        place.write(*write, value);
    }
    let is_left = |route: &Route| route.action == end;
    Ok(node.routes.iter().position(is_left).map(RouteIndex))
}

/// Runs a flow, and retries it as a whole if the outer flow says so. Returns its final state, and
/// the label of the end. `handles` is true if the flow around it goes on after a failure.
pub(super) async fn flow<'l, E: LoadedEngine>(
    engine: &E,
    scope: &Scope<'_>,
    node: &Node,
    inner: &'l Arc<Level>,
    handles: bool,
    mut place: Place<'_>,
) -> Result<(LoadedState, &'l str), Failed> {
    let mut attempts = Visit::new(scope, &node.policy).flow_attempts();
    loop {
        let begun = begun(node, inner, place.reborrow());
        let mut state = or_unreadable(engine, scope, begun).await?;
        let index = attempts.index();
        let is_handled = attempts.is_handled(handles);
        let result = {
            let attempt = pin!(Some(async {
                let nested = scope.nested(engine.names(Some(scope), &inner.info), index);
                if inner.undoes {
                    begin_flow(&nested);
                }
                let mut outcome = flow_with_stack(drive(inner, engine, &nested, &mut state)).await;
                if let Err(failed) = &mut outcome {
                    if inner.undoes {
                        undo_failed(&**inner, engine, &nested, is_handled, failed).await;
                    }
                    engine.flow_failed(&nested, failed);
                }
                outcome
            }));
            let attempt = attempts.attempt_flow(&**inner, engine, is_handled, attempt);
            attempt.await
        };
        match result {
            Ok(end) => return Ok((state, end)),
            Err(failed) if !node.ports.repeats => return Err(failed),
            Err(failed) => attempts.flow_again(engine, failed).await?,
        }
    }
}

/// Runs the branches of a fork at the same time.
async fn fork<E: LoadedEngine>(
    level: &Arc<Level>,
    engine: &E,
    scope: &Scope<'_>,
    branches: &[Branch],
    limit: Option<usize>,
    cells: &mut Cells,
) -> Result<(), Failed> {
    let mut own = states_of_branches(level, branches, cells);
    {
        let base: &Cells = cells;
        let limit = limit.map(Limit::new);
        let runs = branches.iter().zip(&mut own).map(|(branch, own)| {
            let limit = limit.as_ref();
            let run: BoxFuture<'_, Result<(), Failed>> = Box::pin(async move {
                let _room = match limit {
                    Some(limit) => limit.room().await,
                    None => None,
                };
                let scope = scope.branch();
                for &at in &branch.chain {
                    engine.node_started(&scope, at.0 as u16)?;
                    visit(level, engine, &scope, at, Place::Branch(base, own)).await?;
                    engine.node_finished(&scope, DEFAULT_ACTION);
                }
                scope.leave();
                Ok(())
            });
            run
        });
        all(scope, runs.collect()).await?;
    }
    write_back(branches, own, cells);
    Ok(())
}

/// Runs the branches of a race at the same time, until the first is done. Returns the index of the
/// action that it takes.
async fn race<E: LoadedEngine>(
    level: &Arc<Level>,
    engine: &E,
    scope: &Scope<'_>,
    node: &Node,
    branches: &[Branch],
    cells: &mut Cells,
) -> Result<usize, Failed> {
    let nodes =
        |branch: &Branch| -> Vec<u16> { branch.chain.iter().map(|at| at.0 as u16).collect() };
    let nodes: Vec<Vec<u16>> = branches.iter().map(nodes).collect();
    let begun = branches
        .iter()
        .zip(&nodes)
        .map(|(branch, nodes)| RaceBranch {
            nodes,
            action: branch.action.map(|action| &*node.routes[action].action),
        });
    let begun: Vec<RaceBranch<'_>> = begun.collect();
    let recorded = engine.race_started(scope, &begun);
    let mut own = states_of_branches(level, branches, cells);
    let (winner, action) = {
        let base: &Cells = cells;
        let runs = branches.iter().zip(&mut own).map(|(branch, own)| {
            let run: BoxFuture<'_, Result<usize, Failed>> = Box::pin(async move {
                let scope = scope.branch();
                let mut decided = None;
                for &at in &branch.chain {
                    engine.node_started(&scope, at.0 as u16)?;
                    let route = visit(level, engine, &scope, at, Place::Branch(base, own)).await?;
                    decided = route.filter(|_| branch.action.is_none());
                    let routes = &level.node(at).routes;
                    let action = decided.map_or(DEFAULT_ACTION, |route| &routes[route.0].action);
                    engine.node_finished(&scope, action);
                }
                scope.leave();
                let decided = decided.map(|RouteIndex(action)| action);
                Ok(branch.action.or(decided).unwrap_or_default())
            });
            run
        });
        first(scope, runs.collect(), recorded).await?
    };
    engine.race_decided(scope);
    let own = own.swap_remove(winner);
    write_back(&branches[winner..=winner], vec![own], cells);
    Ok(action)
}
