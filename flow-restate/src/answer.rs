//! The answer to a question of a running flow: a call beside the invocation that asks.

use bytes::Bytes;
use flow_runtime::engine::AnyFlow;
use restate_sdk_shared_core::{
    AwaitResponse, CoreVM, NonEmptyValue, NotificationHandle, PayloadOptions, VM, Value,
};
use serde::Deserialize;

use crate::connection::Connection;
use crate::engine::OnRestate;
use crate::operations::Refused;
use crate::question::{Asked, Settled, asked};

/// What the call contains.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Answered {
    /// The name of the question's step.
    question: String,
    answer: serde_json::Value,
}

/// Why there is nothing to send back.
enum Stopped {
    /// The call is refused, for good.
    Refused(Refused),
    /// The server has been told, or is gone; it calls again.
    Again,
}

impl From<restate_sdk_shared_core::Error> for Stopped {
    fn from(_: restate_sdk_shared_core::Error) -> Self {
        Stopped::Again
    }
}

/// Answers a question. Returns once the call is over.
pub(crate) async fn answer(
    flow: &dyn AnyFlow<OnRestate>,
    mut vm: CoreVM,
    mut connection: Connection,
    input: &[u8],
) {
    let value = match settle(flow, &mut vm, &mut connection, input).await {
        Ok(()) => NonEmptyValue::Success(Bytes::from_static(b"{}")),
        Err(Stopped::Refused(refused)) => NonEmptyValue::Failure(refused.into()),
        Err(Stopped::Again) => return connection.flush(&mut vm),
    };
    let written = vm.sys_write_output(value, PayloadOptions::stable_serialization());
    // The journal has told the server of an error.
    let _ = written.and_then(|()| vm.sys_end());
    connection.flush(&mut vm);
}

async fn settle(
    flow: &dyn AnyFlow<OnRestate>,
    vm: &mut CoreVM,
    connection: &mut Connection,
    input: &[u8],
) -> Result<(), Stopped> {
    let refuse = |code, message| Err(Stopped::Refused(Refused { code, message }));
    let Answered { question, answer } = match serde_json::from_slice(input) {
        Ok(answered) => answered,
        Err(error) => {
            let message = format!(
                "the call is not `{{\"question\": \"the name of a question\", \"answer\": …}}`: {error}"
            );
            return refuse(400, message);
        }
    };
    let peeked = vm.sys_peek_promise(asked(&question))?;
    let Value::Success(text) = completed(vm, connection, peeked).await? else {
        let message =
            format!("`{question}` is not asked: it is no question, or is not reached yet");
        return refuse(404, message);
    };
    let ty = match serde_json::from_slice::<Asked>(&text) {
        Ok(asked) => flow.question(&asked.path),
        Err(_) => None,
    };
    let Some(ty) = ty else {
        return refuse(404, format!("the flow has no question `{question}`"));
    };
    if let Err(reason) = ty.check(&answer) {
        return refuse(400, format!("the answer is of another type: {reason}"));
    }
    let settled = match serde_json::to_vec(&Settled::Answer(answer)) {
        Ok(text) => NonEmptyValue::Success(Bytes::from(text)),
        Err(error) => return refuse(400, format!("the answer is not JSON: {error}")),
    };
    let settling = vm.sys_complete_promise(
        question.clone(),
        settled,
        PayloadOptions::stable_serialization(),
    )?;
    match completed(vm, connection, settling).await? {
        Value::Failure(_) => {
            let message = format!("`{question}` is answered already, or its time is over");
            refuse(409, message)
        }
        _ => Ok(()),
    }
}

/// Waits for one operation.
async fn completed(
    vm: &mut CoreVM,
    connection: &mut Connection,
    handle: NotificationHandle,
) -> Result<Value, Stopped> {
    loop {
        match vm.do_await(handle.into())? {
            AwaitResponse::AnyCompleted => {
                if let Some(value) = vm.take_notification(handle)? {
                    return Ok(value);
                }
            }
            AwaitResponse::CancelSignalReceived => {
                return Err(Stopped::Refused(Refused::cancelled()));
            }
            _ => {}
        }
        connection.flush(vm);
        if !connection.feed(vm, || false).await {
            return Err(Stopped::Again);
        }
    }
}
