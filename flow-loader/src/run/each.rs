//! Loops over items.

use std::collections::BTreeSet;
use std::sync::Arc;

use flow_runtime::__private::{AtOnce, node_error, numbered as numbered_item};
use flow_runtime::engine::spread_results as found_results;
use flow_runtime::engine::{Failed, Scope, Spread};
use futures_util::future::BoxFuture;

use crate::args::Args;
use crate::cell::AnyValue;
use crate::level::{Kind, Level, Results, spread_results};
use crate::list::{ItemResult, ListType, without_error};
use crate::place::{Around, Item, Place};
use crate::ports::{KeyIndex, NodeIndex};
use crate::run::engine::{LoadedEngine, or_unreadable};
use crate::run::give_way::{give_way, has_run_for_long};
use crate::run::items::{item_port, items};
use crate::run::results::{collected, result_of};
use crate::run::state::LoadedState;
use crate::run::step::{call, from_outside, opened, work};
use crate::run::visit::flow;
use crate::value::ItemValue;

/// Runs the body of a loop for each item, and returns the results.
pub(super) async fn each<E: LoadedEngine>(
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
        ..
    } = &node.kind
    else {
        unreachable!("this is called for a loop over items")
    };
    let port = item_port(level.node(*body), item);
    let body = (*body, *kept_as, *collects_errors);
    let (items, display) = or_unreadable(engine, scope, items(level, node, around, port)).await?;
    let first = engine.first_item(scope);
    let run = |(index, value): (u32, _)| {
        let index = first.saturating_add(index);
        let item = port.map(|port| Item {
            value,
            port,
            display,
        });
        one_item(level, engine, scope, body, around, (index, item))
    };
    let kept = |result| kept(result, *collects_errors);
    engine.loop_started(scope, items.len());
    let mut results: Vec<Option<ItemResult>> = items.iter().map(|_| None).collect();
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
                while running.has_room()
                    && let Some((index, value)) = numbered.next()
                {
                    running.push(numbered_item(index, run((index, value))));
                }
                match running.next_result().await {
                    Some((index, result)) => match kept(result) {
                        Ok(result) => results[index as usize] = Some(result),
                        Err(failed) => {
                            running.finish(scope).await;
                            return Err(failed);
                        }
                    },
                    None => break,
                }
            }
        }
    }
    let Some(Some(write)) = node.ports.writes.first() else {
        return Ok(None);
    };
    let results = results.into_iter().flatten();
    if write.addition.is_some() {
        let added: Vec<AnyValue> = results.map(without_error).collect();
        return Ok(Some(AnyValue::new(added)));
    }
    let results = collected(level.key(write.key), results, *kept_as, *collects_errors);
    or_unreadable(engine, scope, results).await.map(Some)
}

/// Runs the items of a loop, here or in parts elsewhere, and returns the results.
pub(super) async fn spread<E: LoadedEngine>(
    level: &Arc<Level>,
    engine: &E,
    scope: &Scope<'_>,
    (at, each_part): (NodeIndex, u32),
    state: &LoadedState,
) -> Result<Option<AnyValue>, Failed> {
    let node = level.node(at);
    let Kind::Each {
        body,
        item,
        results: kept_as,
        ..
    } = &node.kind
    else {
        unreachable!("this is called for a loop over items")
    };
    let name = |key: KeyIndex| level.key(key).name.as_str();
    let body = level.node(*body);
    let reads = node.ports.reads.iter().chain(&body.ports.reads);
    let reads: BTreeSet<&str> = reads.filter_map(|read| read.key.map(name)).collect();
    let reads: Vec<&str> = reads.into_iter().collect();
    let Some(over) = node.ports.reads[0].key.map(name) else {
        unreachable!("loading checks that a loop has a collection")
    };
    let write = node.ports.writes.first().copied().flatten();
    let added = write.filter(|write| write.addition.is_some());
    let added = added.map(|_| list_of_added(*kept_as));
    let results = match added {
        Some(_) => key_of_added(level, &node.name),
        None => write.map(|write| write.key),
    };
    let around = Around::of(state.cells(), None);
    let found = items(level, node, around, item_port(body, item));
    let (found, _) = or_unreadable(engine, scope, found).await?;
    let spread = Spread {
        over,
        reads: &reads,
        results: results.map(name),
        items: found.len(),
        each: each_part,
    };
    drop(found);
    let here = async {
        let ran = each(level, engine, scope, at, around).await;
        let ran = ran.inspect_err(|failed| engine.composite_failed(scope, failed))?;
        let ran = match (added, ran) {
            (Some(list), Some(values)) => {
                let values = values.open::<Vec<AnyValue>>().into_iter().map(Ok);
                Some(list.collected(values, false))
            }
            (_, ran) => ran,
        };
        Ok(LoadedState::with(level, results.zip(ran)))
    };
    let ran = engine.spread(scope, spread, state, here).await?;
    let mut ran = or_unreadable(engine, scope, ran.of(level)).await?;
    let Some(key) = results else {
        return Ok(None);
    };
    let results = ran.cells_mut().cell(key).remove();
    let results = found_results(engine, scope, results).await?;
    Ok(Some(match added {
        Some(list) => AnyValue::new(list.taken(results)),
        None => results,
    }))
}

/// The type of the lists of what a loop adds.
fn list_of_added(kept_as: Results) -> &'static ListType {
    match kept_as {
        Results::List(list) => list,
        _ => unreachable!("loading checks that what a loop adds has a type"),
    }
}

/// The key for the results of a loop that adds them.
fn key_of_added(level: &Level, loop_name: &str) -> Option<KeyIndex> {
    let name = spread_results(loop_name);
    level
        .keys
        .iter()
        .position(|key| key.name == name)
        .map(KeyIndex)
}

/// The result of an item, unless its failure is that of the loop.
fn kept(result: Result<AnyValue, Failed>, collects_errors: bool) -> Result<ItemResult, Failed> {
    match result {
        Ok(value) => Ok(Ok(value)),
        Err(failed) if collects_errors => node_error(failed).map(Err),
        Err(failed) => Err(failed),
    }
}

/// Runs the body for one item, and returns the result that the loop keeps.
fn one_item<'a, E: LoadedEngine>(
    level: &'a Arc<Level>,
    engine: &'a E,
    scope: &'a Scope<'a>,
    (body, kept_as, collects): (NodeIndex, Results, bool),
    around: Around<'a>,
    (index, item): (u32, Option<Item<'a>>),
) -> BoxFuture<'a, Result<AnyValue, Failed>> {
    Box::pin(async move {
        let node = level.node(body);
        let scope = scope.item(index);
        let scope = &scope;
        engine.item_started(scope);
        let around = Around {
            item: item.as_ref(),
            ..around
        };
        let mut returned = None;
        let place = Place::Item(&around, &mut returned);
        let (result, action) = match &node.kind {
            Kind::Step { adapter, .. } => {
                let outcome = match node.step() {
                    Some(step) => {
                        let mut call = call::<E>(scope, node, step, place);
                        let outcome = engine.step(scope, work(node, step, &mut call)).await?;
                        match returned {
                            Some(value) => value,
                            None => opened(engine, scope, adapter, outcome).await?,
                        }
                    }
                    None => {
                        let args = Args::new(&node.ports, place, E::READS_OUTCOMES);
                        // Boxed, because each item has room for the largest of these.
                        Box::pin(from_outside(engine, scope, node, adapter, args)).await?
                    }
                };
                let action = (adapter.action)(outcome.get()).to_owned();
                (outcome, action)
            }
            Kind::Flow(inner) => {
                let run = Box::pin(flow(engine, scope, node, inner, collects, place));
                let (mut state, end) = run.await?;
                let value = result_of(inner, state.cells_mut(), end, kept_as);
                (or_unreadable(engine, scope, value).await?, end.to_owned())
            }
            _ => unreachable!("a loop over items runs a function, a type or a flow"),
        };
        engine.node_finished(scope, &action);
        scope.leave();
        if has_run_for_long() {
            give_way().await;
        }
        Ok(result)
    })
}
