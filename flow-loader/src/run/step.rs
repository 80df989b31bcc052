//! The work of a step, and questions to people.

use std::pin::pin;

use flow_runtime::engine::{Failed, Scope, Visit};
use futures_util::future::BoxFuture;

use crate::adapter::{Adapter, Call, Runs, Work};
use crate::args::Args;
use crate::cell::AnyValue;
use crate::level::{Node, Step};
use crate::outcome::Outcome;
use crate::place::Place;
use crate::run::engine::LoadedEngine;

/// The arguments of a visit.
#[inline]
pub(crate) fn call<'a, E: LoadedEngine>(
    scope: &'a Scope<'a>,
    node: &'a Node,
    step: Step<'a>,
    place: Place<'a>,
) -> Call<'a> {
    Call {
        receiver: step.receiver,
        visit: Visit::new(scope, &node.policy),
        args: Args::new(&node.ports, place, E::READS_OUTCOMES),
    }
}

/// The work of a visit. It has taken its values, and runs when polled.
#[inline]
pub(crate) fn work<'a>(node: &'a Node, step: Step<'a>, call: &'a mut Call<'a>) -> Work<'a> {
    if step.is_bounded {
        bounded(node, step, call)
    } else {
        (step.run)(call)
    }
}

/// The work within the time that its flow allows.
fn bounded<'a>(node: &'a Node, step: Step<'a>, call: &'a mut Call<'a>) -> Work<'a> {
    let (run, visit) = (step.run, call.visit);
    if node.policy.retry.attempts.get() == 1 {
        let work = run(call);
        return Box::pin(async move { visit.within_timeout(pin!(work)).await });
    }
    let lent = call.args.lent();
    Box::pin(visit.tried_within_timeout(move |visit| async move {
        let mut call = Call {
            receiver: step.receiver,
            visit,
            args: lent.again(),
        };
        run(&mut call).await
    }))
}

/// The outcome of a node that an engine returned, as a value.
pub(crate) async fn opened<E: LoadedEngine>(
    engine: &E,
    scope: &Scope<'_>,
    adapter: &Adapter,
    outcome: Outcome,
) -> Result<AnyValue, Failed> {
    match outcome.into_value(adapter.outcome) {
        Ok(value) => Ok(value),
        Err(reason) => Err(Box::pin(engine.unreadable(scope, reason)).await),
    }
}

/// Gets the value of a node from outside: the answer to its question, or a signal.
pub(crate) fn from_outside<'a, E: LoadedEngine>(
    engine: &'a E,
    scope: &'a Scope<'a>,
    node: &'a Node,
    adapter: &'a Adapter,
    args: Args<'a>,
) -> BoxFuture<'a, Result<AnyValue, Failed>> {
    match &adapter.runs {
        Runs::Signal { .. } => receive(engine, scope, node, adapter),
        _ => ask(engine, scope, node, adapter, args),
    }
}

/// Asks a person.
fn ask<'a, E: LoadedEngine>(
    engine: &'a E,
    scope: &'a Scope<'a>,
    node: &'a Node,
    adapter: &'a Adapter,
    args: Args<'a>,
) -> BoxFuture<'a, Result<AnyValue, Failed>> {
    let Runs::Human {
        prompt,
        question,
        read,
    } = &adapter.runs
    else {
        unreachable!("only a question is asked")
    };
    let lent = args.lent();
    let prompt = match &node.prompt {
        Some(own) => own.shown(|read| lent.shown(read)),
        None => prompt(lent),
    };
    let visit = Visit::new(scope, &node.policy);
    Box::pin(async move {
        let answer = engine.ask_any(visit, *question, prompt).await?;
        match read(answer) {
            Ok(value) => Ok(value),
            Err(error) => {
                let reason = format!("the answer is not a `{}`: {error}", question.name());
                Err(engine.unreadable(scope, reason).await)
            }
        }
    })
}

/// Waits for a signal.
fn receive<'a, E: LoadedEngine>(
    engine: &'a E,
    scope: &'a Scope<'a>,
    node: &'a Node,
    adapter: &'a Adapter,
) -> BoxFuture<'a, Result<AnyValue, Failed>> {
    let Runs::Signal { signal, read } = &adapter.runs else {
        unreachable!("only a signal is waited for")
    };
    let name = node.signal.as_deref().unwrap_or(signal.name());
    let visit = Visit::new(scope, &node.policy);
    Box::pin(async move {
        let body = engine.receive_any(visit, name, *signal).await?;
        match read(body) {
            Ok(value) => Ok(value),
            Err(error) => {
                let reason = format!("the signal is not a `{}`: {error}", signal.name());
                Err(engine.unreadable(scope, reason).await)
            }
        }
    })
}
