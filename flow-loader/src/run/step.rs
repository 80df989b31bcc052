//! A function or a type as a step of the engine, and a question to a person.

use std::pin::pin;

use flow_runtime::engine::{Failed, Scope, Visit};

use crate::adapter::{Adapter, Receiver, Runs};
use crate::args::{Arg, Args};
use crate::level::Node;
use crate::run::outcome::{LoadedEngine, Outcome};
use crate::value::AnyValue;

/// Runs a function or a type as a step, or asks a person.
pub(crate) async fn step<'a, E: LoadedEngine>(
    engine: &'a E,
    scope: &'a Scope<'a>,
    node: &'a Node,
    adapter: &'a Adapter,
    receiver: Option<&'a Receiver>,
    args: Args<'a>,
) -> Result<AnyValue, Failed> {
    let visit = Visit::new(scope, &node.policy);
    let run = match adapter.runs {
        Runs::Step { step, .. } => step,
        Runs::Human {
            prompt,
            ref question,
            read,
            ..
        } => {
            let prompt = match &node.prompt {
                Some(own) => own.shown(args),
                None => prompt(args),
            };
            let answer = engine.ask_any(visit, *question, prompt).await?;
            return match read(answer) {
                Ok(value) => Ok(value),
                Err(error) => {
                    let reason = format!("the answer is not a `{}`: {error}", question.name());
                    Err(engine.unreadable(scope, reason).await)
                }
            };
        }
    };
    let receiver = receiver.map(|receiver| &**receiver);
    let outcome = |value| Outcome::new(value, adapter.outcome);
    let outcome = if !node.is_bounded() {
        let work = run(receiver, visit, args);
        engine
            .step(scope, async move { work.await.map(outcome) })
            .await?
    } else if node.policy.retry.attempts.get() > 1 {
        let work = visit.tried_within_timeout(move |visit| run(receiver, visit, again(&args)));
        engine
            .step(scope, async move { work.await.map(outcome) })
            .await?
    } else {
        let work = async move {
            let work = pin!(run(receiver, visit, args));
            visit.within_timeout(work).await.map(outcome)
        };
        engine.step(scope, work).await?
    };
    outcome.into_value(engine, scope, adapter.outcome).await
}

/// The same values once more. A node that its flow tries again takes nothing.
pub(crate) fn again<'a>(args: &Args<'a>) -> Args<'a> {
    let again = |arg: &Arg<'a>| match arg {
        Arg::Missing => Arg::Missing,
        Arg::Borrowed(value) => Arg::Borrowed(*value),
        Arg::Owned(_) | Arg::Shown(_) => {
            unreachable!("loading refuses attempts at a node that takes a value")
        }
    };
    Args(args.0.iter().map(again).collect())
}

/// The values of a node, as the inputs of the flow that it is.
pub(crate) fn inputs(args: Args<'_>) -> Vec<Option<AnyValue>> {
    let input = |arg: Arg<'_>| match arg {
        Arg::Missing => None,
        Arg::Owned(value) => Some(value),
        Arg::Borrowed(_) | Arg::Shown(_) => unreachable!("a flow takes its inputs"),
    };
    args.0.into_iter().map(input).collect()
}
