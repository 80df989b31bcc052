//! The answer to a question of a running flow, a call separate from the invocation that asks.

use bytes::Bytes;
use flow_runtime::engine::{AnyFlow, parse_json};
use restate_sdk_shared_core::{CoreVM, NonEmptyValue, PayloadOptions, VM, Value};
use serde::Deserialize;

use crate::connection::{Connection, no_step};
use crate::engine::OnRestate;
use crate::question::{Asked, Settled, asked};
use crate::size::{LARGEST, within_limit};
use crate::stopped::{Refused, Stopped};

/// The input of the call.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Answered {
    /// The name of the question's step.
    question: String,
    answer: serde_json::Value,
}

/// Answers a question. Returns once the call is over.
pub(crate) async fn answer(
    flow: &dyn AnyFlow<OnRestate>,
    mut vm: CoreVM,
    mut connection: Connection,
    input: &[u8],
) {
    let settled = settle(flow, &mut vm, &mut connection, input).await;
    connection.end(&mut vm, settled.map(|()| Bytes::from_static(b"{}")));
}

async fn settle(
    flow: &dyn AnyFlow<OnRestate>,
    vm: &mut CoreVM,
    connection: &mut Connection,
    input: &[u8],
) -> Result<(), Stopped> {
    let refuse = |code, message| Err(Refused { code, message }.into());
    let Answered { question, answer } = match parse_json(input).and_then(serde_json::from_value) {
        Ok(answered) => answered,
        Err(error) => {
            let message = format!(
                "the call is not `{{\"question\": \"the name of a question\", \"answer\": …}}`: {error}"
            );
            return refuse(400, message);
        }
    };
    if question.len() > LARGEST {
        return refuse(404, "no question has so long a name".to_owned());
    }
    let peeked = vm.sys_peek_promise(asked(&question))?;
    let Value::Success(text) = connection.completed(vm, peeked, no_step).await? else {
        let message = format!(
            "`{question}` is not asked: there is no such question, or the run has not reached it yet"
        );
        return refuse(404, message);
    };
    let ty = match serde_json::from_slice::<Asked>(&text) {
        Ok(asked) => flow.external(&asked.path),
        Err(_) => None,
    };
    let Some(ty) = ty else {
        return refuse(404, format!("the flow has no question `{question}`"));
    };
    let answer = match ty.accept(answer) {
        Ok(answer) => answer,
        Err(reason) => {
            return refuse(400, format!("the answer is of another type: {reason}"));
        }
    };
    let text = serde_json::to_vec(&Settled::Answer(answer))
        .map_err(|error| format!("the answer is not JSON: {error}"))
        .and_then(|text| within_limit("the answer", text));
    let settled = match text {
        Ok(text) => NonEmptyValue::Success(text),
        Err(message) => return refuse(400, message),
    };
    let settling = vm.sys_complete_promise(
        question.clone(),
        settled,
        PayloadOptions::stable_serialization(),
    )?;
    match connection.completed(vm, settling, no_step).await? {
        Value::Failure(_) => {
            let message = format!(
                "`{question}` waits for no answer: it is answered already, its time is over, or the \
                 run does not need it any more"
            );
            refuse(409, message)
        }
        _ => Ok(()),
    }
}
