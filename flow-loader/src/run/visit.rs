//! The loop over the nodes of a flow, and the nodes that contain others. They call one another.

use std::any::Any;
use std::pin::pin;
use std::sync::Arc;

use flow_runtime::__private::{AtOnce, Limit, is_deadline, node_error, numbered as numbered_item};
use flow_runtime::engine::{Failed, Scope, StateHooks, Visit};
use flow_spec::{DEFAULT_ACTION, Take};
use futures_util::future::BoxFuture;

use crate::adapter::{Adapter, Receiver, Runs, Taken};
use crate::level::{Branch, Kind, Level, Node, NodeIndex, Output, Route, RouteIndex, Target};
use crate::run::branches::{states_of_branches, write_back};
use crate::run::conditions::first_that_holds;
use crate::run::join::all;
use crate::run::outcome::LoadedEngine;
use crate::run::place::{Around, Place, for_item, gathered, items, shown};
use crate::run::state::{LoadedState, Own, read};
use crate::run::step::{inputs, step};
use crate::value::{AnyValue, ItemResult, Shown};

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
        let route = in_loop(level, engine, scope, at, state).await?;
        let route = &node.routes[route.0];
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

/// Visits a node of the flow's own loop, and returns the route that it took.
fn in_loop<'a, E: LoadedEngine>(
    level: &'a Arc<Level>,
    engine: &'a E,
    scope: &'a Scope<'a>,
    at: NodeIndex,
    state: &'a mut LoadedState,
) -> BoxFuture<'a, Result<RouteIndex, Failed>> {
    Box::pin(async move {
        let node = level.node(at);
        let mut place = Place::Loop(state);
        match visit(level, engine, scope, at, &mut place).await {
            Ok(Left::Action(action)) => Ok(route(node, action)),
            Ok(Left::Route(route)) => Ok(route),
            Ok(Left::End(end)) => {
                let ends = node.routes.iter().position(|route| route.action == end);
                match ends {
                    Some(route) => Ok(RouteIndex(route)),
                    None => unreachable!("the analysis accepted an end \"{end}\" without a route"),
                }
            }
            Err(failed) => failed_route(level, node, failed, &mut place),
        }
    })
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

fn route(node: &Node, action: usize) -> RouteIndex {
    match node.by_action.get(action) {
        Some(Some(route)) => *route,
        _ => unreachable!(
            "the analysis accepted an action of `{}` without a route",
            node.name
        ),
    }
}

/// The route of a failed node, or its failure.
fn failed_route(
    level: &Level,
    node: &Node,
    failed: Failed,
    place: &mut Place<'_>,
) -> Result<RouteIndex, Failed> {
    if let (true, Some(route)) = (is_deadline(&failed), node.timeout) {
        return Ok(route);
    }
    let Some(route) = node.error else {
        return Err(failed);
    };
    let error = node_error(failed)?;
    if let Some(key) = level.error {
        place.set(key, Box::new(error));
    }
    Ok(route)
}

/// Runs a node. Boxed, because nodes contain others.
fn visit<'a, E: LoadedEngine>(
    level: &'a Arc<Level>,
    engine: &'a E,
    scope: &'a Scope<'a>,
    at: NodeIndex,
    place: &'a mut Place<'_>,
) -> BoxFuture<'a, Result<Left, Failed>> {
    Box::pin(async move {
        let node = level.node(at);
        match &node.kind {
            Kind::Step { adapter, receiver } => {
                visit_step(
                    level,
                    engine,
                    scope,
                    at,
                    (adapter, receiver.as_ref()),
                    place,
                )
                .await
            }
            Kind::Flow(inner) => {
                let returned = {
                    let inputs = |place: &mut Place<'_>| inputs(gathered(level, at, place));
                    flow(engine, scope, node, inner, || inputs(place)).await?
                };
                for (key, value) in node.writes.iter().zip(returned.values) {
                    if let (Some(key), Some(value)) = (key, value) {
                        place.set(*key, value);
                    }
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

/// Runs a function or a type, or asks a person, and writes what came of it.
async fn visit_step<E: LoadedEngine>(
    level: &Arc<Level>,
    engine: &E,
    scope: &Scope<'_>,
    at: NodeIndex,
    (adapter, receiver): (&Adapter, Option<&Receiver>),
    place: &mut Place<'_>,
) -> Result<Left, Failed> {
    let node = level.node(at);
    let outcome = {
        let args = match adapter.runs {
            Runs::Step { .. } => gathered(level, at, place),
            Runs::Human { .. } => shown(level, node, place.around(), None),
        };
        step(engine, scope, node, adapter, receiver, args).await?
    };
    let mut taken = Taken::default();
    match adapter.runs {
        Runs::Step { take_apart, .. } | Runs::Human { take_apart, .. } => {
            take_apart(outcome, &mut taken)
        }
    }
    for (number, value) in taken.writes {
        if let Some(key) = node.writes[number] {
            place.set(key, value);
        }
    }
    Ok(Left::Action(taken.action))
}

/// Runs a flow, and tries it again as a whole if the outer flow says so.
async fn flow<E: LoadedEngine>(
    engine: &E,
    scope: &Scope<'_>,
    node: &Node,
    inner: &Arc<Level>,
    mut inputs: impl FnMut() -> Vec<Option<AnyValue>> + Send,
) -> Result<Returned, Failed> {
    let mut attempts = Visit::new(scope, &node.policy).flow_attempts();
    loop {
        let inputs = inputs();
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
        list,
    } = &node.kind
    else {
        unreachable!("this is called for a loop over items")
    };
    let (items, display) = items(level, node, around);
    let body = (*body, item.as_str(), display);
    let run = |item| one_item(level, engine, scope, body, around, item);
    let mut results: Vec<Option<ItemResult>> = items.iter().map(|_| None).collect();
    let kept = |result: Result<Option<AnyValue>, Failed>| match result {
        Ok(value) => Ok(Ok(value)),
        Err(failed) if *collects_errors => node_error(failed).map(Err),
        Err(failed) => Err(failed),
    };
    let mut numbered = (0u32..).zip(items);
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
    Ok(list.map(|list| list.collected(results.into_iter().flatten(), *collects_errors)))
}

/// Runs the body for one item. The result is `None` if the body returns nothing.
fn one_item<'a, E: LoadedEngine>(
    level: &'a Arc<Level>,
    engine: &'a E,
    scope: &'a Scope<'a>,
    (body, item, display): (NodeIndex, &'a str, Option<Shown>),
    around: Around<'a>,
    (index, value): (u32, &'a (dyn Any + Sync)),
) -> BoxFuture<'a, Result<Option<AnyValue>, Failed>> {
    Box::pin(async move {
        let node = level.node(body);
        let scope = scope.item(index);
        let scope = &scope;
        engine.item_started(scope);
        let reads_item = |read: usize| {
            let read = node.reads.get(read);
            read.is_some_and(|read| read.name == item)
        };
        let args = || for_item(level, node, around, value, reads_item);
        let (result, action) = match &node.kind {
            Kind::Step { adapter, receiver } => {
                let args = match adapter.runs {
                    Runs::Step { .. } => args(),
                    Runs::Human { .. } => {
                        let item = display.map(|display| (item, display(value)));
                        shown(level, node, around, item)
                    }
                };
                let outcome = step(engine, scope, node, adapter, receiver.as_ref(), args).await?;
                let action = action_of(adapter, &outcome);
                let keeps = !adapter.returns_nothing;
                (keeps.then_some(outcome), action.to_owned())
            }
            Kind::Flow(inner) => {
                let returned = flow(engine, scope, node, inner, || inputs(args())).await?;
                let value = returned.values.into_iter().next().flatten();
                (value, returned.end)
            }
            _ => unreachable!("a loop over items runs a function, a type or a flow"),
        };
        engine.node_finished(scope, &action);
        scope.leave();
        Ok(result)
    })
}

/// The action in an outcome that is not taken apart.
fn action_of(adapter: &Adapter, outcome: &AnyValue) -> &'static str {
    (adapter.action)(&**outcome)
}
