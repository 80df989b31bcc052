//! The loop over the nodes of a flow, and the nodes that contain others. They call one another.

use std::pin::pin;
use std::sync::Arc;

use flow_runtime::__private::{AtOnce, Limit, is_deadline, node_error, numbered as numbered_item};
use flow_runtime::engine::{Failed, Scope, StateHooks, Unstorable, Visit};
use flow_spec::{DEFAULT_ACTION, Take};
use futures_util::future::BoxFuture;

use crate::adapter::Runs;
use crate::args::{Args, Writer};
use crate::level::{
    Branch, Kind, Level, Node, NodeIndex, Output, Results, Route, RouteIndex, Target,
};
use crate::list::ItemResult;
use crate::run::branches::{states_of_branches, write_back};
use crate::run::conditions::first_that_holds;
use crate::run::engine::LoadedEngine;
use crate::run::join::all;
use crate::run::place::{Around, Item, ItemPort, Place, Visited, items};
use crate::run::results::{collected, result_of};
use crate::run::state::{LoadedState, Own, read};
use crate::run::step::{ask, opened, work};
use crate::value::{AnyValue, ItemValue, opened as from_any};

/// What a flow returned.
pub(crate) struct Returned {
    /// The label of the end.
    pub(crate) end: String,
    /// The values of its outputs, in their order.
    pub(crate) values: Vec<Option<AnyValue>>,
}

/// Runs a flow to an end. The inputs are in the order of its signature.
pub(crate) fn drive<'a, E: LoadedEngine>(
    level: &'a Arc<Level>,
    engine: &'a E,
    scope: &'a Scope<'a>,
    inputs: Vec<Option<AnyValue>>,
) -> BoxFuture<'a, Result<Returned, Failed>> {
    Box::pin(async move {
        let mut state = LoadedState::new(level);
        for (input, value) in level.inputs.iter().zip(inputs) {
            let Some(key) = input.key else { continue };
            let value = match (value, &input.default) {
                (None, Some(default)) => match read(level.key(key), default.clone()) {
                    Ok(value) => Some(value),
                    Err(unfit) => return Err(engine.unreadable(scope, unfit.to_string()).await),
                },
                (value, _) => value,
            };
            if let Some(value) = value {
                state.cells_mut().set(key, value);
            }
        }
        let end = to_an_end(level, engine, scope, &mut state).await?;
        engine.at_end(scope, &state);
        engine.flow_ended(scope, end);
        let outputs = level.outputs.iter();
        let values = outputs.map(|output| returned(output, &mut state));
        Ok(Returned {
            values: values.collect(),
            end: end.to_owned(),
        })
    })
}

async fn to_an_end<'a, E: LoadedEngine>(
    level: &'a Arc<Level>,
    engine: &'a E,
    scope: &'a Scope<'a>,
    state: &mut LoadedState,
) -> Result<&'a str, Failed> {
    follow(&level.start, state);
    let mut at = match &level.start.to {
        Target::Node(first) => *first,
        Target::End(end) => return Ok(end),
    };
    if let Some((node, saved)) = StateHooks::<LoadedState>::resume_from(engine, scope)? {
        match saved.into_cells(level) {
            Ok(cells) => *state = cells.into(),
            Err(unstorable) => return Err(engine.unreadable(scope, unstorable.to_string()).await),
        }
        at = NodeIndex(node);
    }
    engine.before_node(scope, at.0 as u16, state)?;
    loop {
        let node = level.node(at);
        let left = visit(level, engine, scope, at, &mut Place::Loop(state)).await;
        let route = &node.routes[route(level, node, left, state)?.0];
        follow(route, state);
        match &route.to {
            Target::Node(next) => {
                engine.after_node(scope, &route.action, next.0 as u16, state)?;
                at = *next;
            }
            Target::End(end) => {
                engine.node_finished(scope, &route.action);
                return Ok(end);
            }
        }
    }
}

/// Writes the keys that an edge maps. All values are taken before one of them is written.
fn follow(route: &Route, state: &mut LoadedState) {
    if route.mappings.is_empty() {
        return;
    }
    let cells = state.cells_mut();
    let taken = route.mappings.iter().map(|mapping| match mapping.take {
        Take::Move => cells.remove(mapping.source),
        Take::Clone { .. } => cells.cloned(mapping.source),
    });
    let taken: Vec<Option<AnyValue>> = taken.collect();
    for (mapping, value) in route.mappings.iter().zip(taken) {
        cells.put(mapping.key, value);
    }
}

/// The value of an output.
fn returned(output: &Output, state: &mut LoadedState) -> Option<AnyValue> {
    let value = state.cells_mut().remove(output.key?)?;
    if output.flattens {
        let option = output.ty.and_then(|ty| ty.option);
        return match option {
            Some(option) => (option.take)(value),
            None => Some(value),
        };
    }
    Some(value)
}

/// How a node was left.
enum Left {
    /// With an action, by its number.
    Action(usize),
    /// On a route: a branch.
    Route(RouteIndex),
    /// With an end: an inner flow.
    End(String),
}

/// The route on which a node was left, or its failure.
#[inline]
fn route(
    level: &Level,
    node: &Node,
    left: Result<Left, Failed>,
    state: &mut LoadedState,
) -> Result<RouteIndex, Failed> {
    let found = match left {
        Ok(Left::Route(route)) => return Ok(route),
        Ok(Left::Action(action)) => node.by_action.get(action).copied().flatten(),
        Ok(Left::End(end)) => {
            let ends = node.routes.iter().position(|route| route.action == end);
            ends.map(RouteIndex)
        }
        Err(failed) => return failed_route(level, node, failed, state),
    };
    match found {
        Some(route) => Ok(route),
        None => unreachable!(
            "the analysis accepted an action of `{}` without a route",
            node.name
        ),
    }
}

fn failed_route(
    level: &Level,
    node: &Node,
    failed: Failed,
    state: &mut LoadedState,
) -> Result<RouteIndex, Failed> {
    if let (true, Some(route)) = (is_deadline(&failed), node.timeout) {
        return Ok(route);
    }
    let Some(route) = node.error else {
        return Err(failed);
    };
    let error = node_error(failed)?;
    if let Some(key) = level.error {
        state.cells_mut().set(key, Box::new(error));
    }
    Ok(route)
}

/// Runs a node, and writes what comes of it.
async fn visit<E: LoadedEngine>(
    level: &Arc<Level>,
    engine: &E,
    scope: &Scope<'_>,
    at: NodeIndex,
    place: &mut Place<'_>,
) -> Result<Left, Failed> {
    let node = level.node(at);
    let Kind::Step { adapter, receiver } = &node.kind else {
        return visit_part(level, engine, scope, at, place).await;
    };
    let mut values = Visited {
        level,
        at,
        place: place.reborrow(),
    };
    let args = Args::new(&mut values);
    let outcome = match adapter.runs {
        Runs::Step(run) => {
            let work = work(scope, node, adapter, receiver.as_ref(), run, args);
            let outcome = engine.step(scope, work).await?;
            match outcome.into_value(adapter.outcome) {
                Ok(value) => value,
                Err(reason) => return Err(Box::pin(engine.unreadable(scope, reason)).await),
            }
        }
        Runs::Human { .. } => ask(engine, scope, node, adapter, args).await?,
    };
    let action = (adapter.take_apart)(outcome, &mut Writer(&mut values));
    Ok(Left::Action(action))
}

/// Runs a node that is a part of the language or another flow. Boxed, because such nodes contain
/// others.
fn visit_part<'s, E: LoadedEngine>(
    level: &'s Arc<Level>,
    engine: &'s E,
    scope: &'s Scope<'s>,
    at: NodeIndex,
    place: &'s mut Place<'_>,
) -> BoxFuture<'s, Result<Left, Failed>> {
    Box::pin(async move {
        let node = level.node(at);
        match &node.kind {
            Kind::Step { .. } => unreachable!("it is neither a part of the language nor a flow"),
            Kind::Flow(inner) => {
                let inputs = || {
                    let place = place.reborrow();
                    Visited { level, at, place }.inputs(inner)
                };
                let returned = flow(engine, scope, node, inner, inputs).await?;
                let outputs = inner.outputs.iter().zip(&node.writes);
                for ((output, key), value) in outputs.zip(returned.values) {
                    let (Some(key), Some(value)) = (key, value) else {
                        continue;
                    };
                    let value = if inner.is_untyped(output.key) {
                        let value = read(level.key(*key), from_any(value));
                        or_unreadable(engine, scope, value).await?
                    } else {
                        value
                    };
                    place.set(*key, value);
                }
                Ok(Left::End(returned.end))
            }
            Kind::Fork { branches, limit } => {
                let Place::Loop(state) = place else {
                    unreachable!("a fork is not directly inside a fork")
                };
                fork(level, engine, scope, branches, *limit, state).await?;
                Ok(Left::Action(0))
            }
            Kind::Each { .. } => {
                let results = each(level, engine, scope, at, place.around()).await?;
                if let (Some(results), Some(Some(key))) = (results, node.writes.first()) {
                    place.set(*key, results);
                }
                Ok(Left::Action(0))
            }
            Kind::Branch { cases, otherwise } => {
                let route = first_that_holds(level, node, scope, cases, place.around())?;
                Ok(Left::Route(route.unwrap_or(*otherwise)))
            }
            Kind::Wait(duration) => {
                engine.wait(scope, *duration).await?;
                Ok(Left::Action(0))
            }
        }
    })
}

/// What was written as JSON or read from it, unless that failed.
async fn or_unreadable<E: LoadedEngine, T>(
    engine: &E,
    scope: &Scope<'_>,
    value: Result<T, Unstorable>,
) -> Result<T, Failed> {
    match value {
        Ok(value) => Ok(value),
        Err(unfit) => Err(engine.unreadable(scope, unfit.to_string()).await),
    }
}

/// Runs a flow, and tries it again as a whole if the outer flow says so.
async fn flow<E: LoadedEngine>(
    engine: &E,
    scope: &Scope<'_>,
    node: &Node,
    inner: &Arc<Level>,
    mut inputs: impl FnMut() -> Result<Vec<Option<AnyValue>>, Unstorable> + Send,
) -> Result<Returned, Failed> {
    let mut attempts = Visit::new(scope, &node.policy).flow_attempts();
    loop {
        let inputs = or_unreadable(engine, scope, inputs()).await?;
        let index = attempts.index();
        let result = {
            let attempt = pin!(async {
                let nested = scope.nested(&inner.info, index);
                let outcome = drive(inner, engine, &nested, inputs).await;
                if let Err(failed) = &outcome {
                    engine.flow_failed(&nested, failed);
                }
                outcome
            });
            attempts.attempt_flow(engine, attempt).await
        };
        match result {
            Ok(returned) => return Ok(returned),
            Err(failed) if !node.repeats() => return Err(failed),
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
    state: &mut LoadedState,
) -> Result<(), Failed> {
    let mut own = states_of_branches(level, branches, state);
    {
        let base: &LoadedState = state;
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
                    in_branch(level, engine, &scope, at, base, own).await?;
                    engine.node_finished(&scope, DEFAULT_ACTION);
                }
                scope.leave();
                Ok(())
            });
            run
        });
        all(runs.collect()).await?;
    }
    write_back(branches, own, state);
    Ok(())
}

async fn in_branch<E: LoadedEngine>(
    level: &Arc<Level>,
    engine: &E,
    scope: &Scope<'_>,
    at: NodeIndex,
    base: &LoadedState,
    own: &mut Own,
) -> Result<(), Failed> {
    let mut place = Place::Branch(base, own);
    visit(level, engine, scope, at, &mut place)
        .await
        .map(|_| ())
}

/// Runs the body of a loop for each item, and returns the results.
async fn each<E: LoadedEngine>(
    level: &Arc<Level>,
    engine: &E,
    scope: &Scope<'_>,
    at: NodeIndex,
    around: Around<'_>,
) -> Result<Option<AnyValue>, Failed> {
    let node = level.node(at);
    let Kind::Each {
        body,
        item,
        concurrency,
        collects_errors,
        results: kept_as,
    } = &node.kind
    else {
        unreachable!("this is called for a loop over items")
    };
    let port = ItemPort::of(level.node(*body), item);
    let found = items(level, node, around, port);
    let (items, display) = or_unreadable(engine, scope, found).await?;
    let run = |(index, value)| {
        let item = port.map(|port| Item {
            value,
            port,
            display,
        });
        let body = (*body, *kept_as);
        one_item(level, engine, scope, body, around, (index, item))
    };
    let mut results: Vec<Option<ItemResult>> = items.iter().map(|_| None).collect();
    let kept = |result: Result<AnyValue, Failed>| match result {
        Ok(value) => Ok(Ok(value)),
        Err(failed) if *collects_errors => node_error(failed).map(Err),
        Err(failed) => Err(failed),
    };
    let mut numbered = (0u32..).zip(items.iter().map(ItemValue::any));
    match concurrency {
        None => {
            for (index, value) in numbered {
                results[index as usize] = Some(kept(run((index, value)).await)?);
            }
        }
        Some(limit) => {
            let mut running = AtOnce::new(*limit);
            loop {
                while running.has_room() {
                    let Some((index, value)) = numbered.next() else {
                        break;
                    };
                    running.push(numbered_item(index, run((index, value))));
                }
                let Some((index, result)) = running.next_result().await else {
                    break;
                };
                results[index as usize] = Some(kept(result)?);
            }
        }
    }
    let (results, Some(Some(key))) = (results.into_iter().flatten(), node.writes.first()) else {
        return Ok(None);
    };
    let results = collected(level.key(*key), results, *kept_as, *collects_errors);
    or_unreadable(engine, scope, results).await.map(Some)
}

/// Runs the body for one item, and returns what the loop keeps of it.
fn one_item<'a, E: LoadedEngine>(
    level: &'a Arc<Level>,
    engine: &'a E,
    scope: &'a Scope<'a>,
    (body, kept_as): (NodeIndex, Results),
    around: Around<'a>,
    (index, item): (u32, Option<Item<'a>>),
) -> BoxFuture<'a, Result<AnyValue, Failed>> {
    Box::pin(async move {
        let node = level.node(body);
        let scope = scope.item(index);
        let scope = &scope;
        engine.item_started(scope);
        let values = || Visited {
            level,
            at: body,
            place: Place::Shared(Around {
                item: item.as_ref(),
                ..around
            }),
        };
        let (result, action) = match &node.kind {
            Kind::Step { adapter, receiver } => {
                let mut values = values();
                let args = Args::new(&mut values);
                let outcome = match adapter.runs {
                    Runs::Step(run) => {
                        let work = work(scope, node, adapter, receiver.as_ref(), run, args);
                        let outcome = engine.step(scope, work).await?;
                        opened(engine, scope, adapter, outcome).await?
                    }
                    Runs::Human { .. } => ask(engine, scope, node, adapter, args).await?,
                };
                let action = (adapter.action)(&*outcome).to_owned();
                (outcome, action)
            }
            Kind::Flow(inner) => {
                let returned = flow(engine, scope, node, inner, || values().inputs(inner)).await?;
                let end = returned.end.clone();
                let value = result_of(inner, returned, kept_as);
                (or_unreadable(engine, scope, value).await?, end)
            }
            _ => unreachable!("a loop over items runs a function, a type or a flow"),
        };
        engine.node_finished(scope, &action);
        scope.leave();
        Ok(result)
    })
}
