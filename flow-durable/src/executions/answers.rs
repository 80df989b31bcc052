//! Questions and their answers.
//!
//! A process with the flow checks an answer by its type. Without the flow there is only the
//! question's JSON Schema, which may allow what the type refuses: the run then asks again.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use flow_store::{ExecutionId, PauseRow, PauseState, Row, Settlement, Store, Token};

use super::Executions;
use crate::error::RuntimeError;
use crate::execution::{Execution, OpenQuestion};
use crate::payload::{self, VALUE_DEPTH};
use crate::registered::Registered;
use flow_runtime::{Submission, SubmittedValue};
#[cfg(feature = "schema")]
use serde_json::Value;

impl Executions {
    /// The question with this token, if it is open.
    ///
    /// # Errors
    ///
    /// [`RuntimeError::UnknownToken`], also if its execution belongs to another owner; if it is no
    /// longer open, the errors of [`resume`](Executions::resume); or the store could not be read.
    pub async fn question(&self, token: Token) -> Result<OpenQuestion, RuntimeError> {
        let (pause, row) = self.owned.question(token).await?;
        still_runs(&row)?;
        self.check_open(&pause).await?;
        Ok(OpenQuestion::new(pause, &row))
    }

    /// Answers a question, and resumes the execution. The answer is a value of the expected type,
    /// or a `serde_json::Value` that can be read as one. If another process has the execution, that
    /// process resumes it.
    ///
    /// The flow need not be registered here if flow-durable has its feature `schema`. The answer is
    /// then checked by the JSON Schema that was stored with the question. The next process that has
    /// the flow and [recovers](crate::Runtime::recover) resumes the execution. If the answer is not
    /// of the type although the schema allows it, that process asks the question again, with a new
    /// token. The record [`Paused`](flow_store::RecordKind::Paused) of the new question says why.
    ///
    /// # Errors
    ///
    /// The execution is unchanged: [`RuntimeError::UnknownToken`],
    /// [`RuntimeError::AlreadyAnswered`], [`RuntimeError::Expired`], [`RuntimeError::Withdrawn`],
    /// [`RuntimeError::WrongType`], [`RuntimeError::Over`], [`RuntimeError::FlowChanged`] or
    /// [`RuntimeError::Unreadable`] if the execution could not continue with the answer, or the
    /// store failed. If the flow is not registered: [`RuntimeError::NoSchema`]; without the feature
    /// `schema`, [`RuntimeError::NotRegistered`]. If there are several answers to one question, one
    /// is accepted.
    //
    // Not an `async fn`: for a value that is not an answer, rustc would also report its future.
    pub fn resume(
        &self,
        token: Token,
        value: impl Submission,
    ) -> Pin<Box<dyn Future<Output = Result<Execution, RuntimeError>> + Send + '_>> {
        Box::pin(self.resume_with(token, value.submit()))
    }

    async fn resume_with(
        &self,
        token: Token,
        value: Result<SubmittedValue, serde_json::Error>,
    ) -> Result<Execution, RuntimeError> {
        let (pause, row) = self.owned.question(token).await?;
        let flow = self.owned.shared.registry.version_if_known(&row).await?;
        still_runs(&row)?;
        self.check_open(&pause).await?;
        let is_known = flow.is_some();
        let answer = match flow {
            Some(flow) => self.accepted(&row, &flow, &pause, value).await?,
            None => accepted_by_schema(&row, &pause, value)?,
        };
        self.settle(row.id, token, Settlement::Answer(answer))
            .await?;
        // The answer is stored. If the execution cannot continue here, this is not an error of the
        // answer.
        if is_known {
            self.owned.shared.wake(row.id).await;
        }
        match self.get(row.id).await {
            Ok(execution) => Ok(execution),
            Err(_) => Ok(Execution::new(self.owned.clone(), row)),
        }
    }

    /// The answer as JSON, if it is an answer to this question.
    async fn accepted(
        &self,
        row: &Row,
        flow: &Arc<Registered>,
        pause: &PauseRow,
        value: Result<SubmittedValue, serde_json::Error>,
    ) -> Result<String, RuntimeError> {
        let changes = self.owned.shared.judge_to_answer(row, flow).await?;
        let names = self.owned.shared.registry.names(row, flow).await?;
        let asked = flow
            .external_under(names.as_deref(), &pause.path)
            .ok_or_else(|| RuntimeError::FlowChanged {
                execution: row.id,
                flow: row.flow.clone(),
                changes: changes
                    .into_iter()
                    .chain([format!("`{}` asks nothing any more", pause.path)])
                    .collect(),
            })?;
        let wrong = |reason| wrong_type(pause, reason);
        let answer = asked.accept_submitted(value).map_err(wrong)?.to_string();
        payload::check(&answer, VALUE_DEPTH).map_err(wrong)?;
        Ok(answer)
    }

    /// Checks that a question can be answered now.
    async fn check_open(&self, pause: &PauseRow) -> Result<(), RuntimeError> {
        closed(pause)?;
        let is_late = |at| at <= self.owned.shared.now_ms();
        if !pause.expires_ms.is_some_and(is_late) {
            return Ok(());
        }
        // Somebody may have answered in time, between the read of the question and that of the
        // clock.
        let (now, _) = self.owned.question(pause.token).await?;
        closed(&now)?;
        Err(RuntimeError::Expired {
            execution: pause.execution,
            path: pause.path.clone(),
        })
    }

    /// Stores the outcome of an open question.
    async fn settle(
        &self,
        id: ExecutionId,
        token: Token,
        settlement: Settlement,
    ) -> Result<(), RuntimeError> {
        let store = &self.owned.shared.store;
        let now_ms = self.owned.shared.now_ms();
        match store.settle(token, settlement.clone(), now_ms).await {
            // Also if its time is over by now: the store has decided.
            Ok(before) => closed(&before),
            Err(error) => {
                // The store may have taken the answer before it failed.
                let after = store.pause(token).await.ok().flatten();
                let taken = |pause: &PauseRow| pause.state == PauseState::from(settlement);
                if after.as_ref().is_some_and(taken) {
                    Ok(())
                } else {
                    Err(RuntimeError::of(id)(error))
                }
            }
        }
    }
}

/// Refuses an answer to a question that is no longer open.
fn closed(pause: &PauseRow) -> Result<(), RuntimeError> {
    let (execution, path) = (pause.execution, pause.path.clone());
    match pause.state {
        PauseState::Open => Ok(()),
        PauseState::Answered(_) | PauseState::Used => {
            Err(RuntimeError::AlreadyAnswered { execution, path })
        }
        PauseState::Withdrawn => Err(RuntimeError::Withdrawn { execution, path }),
        PauseState::TimedOut | PauseState::Expired => {
            Err(RuntimeError::Expired { execution, path })
        }
    }
}

fn still_runs(row: &Row) -> Result<(), RuntimeError> {
    if row.status.is_over() {
        return Err(RuntimeError::Over {
            execution: row.id,
            status: row.status,
        });
    }
    Ok(())
}

fn wrong_type(pause: &PauseRow, reason: String) -> RuntimeError {
    RuntimeError::WrongType {
        execution: pause.execution,
        path: pause.path.clone(),
        expected: pause.expected.clone(),
        reason,
    }
}

/// The answer as JSON, if the question's schema allows it.
#[cfg(feature = "schema")]
fn accepted_by_schema(
    row: &Row,
    pause: &PauseRow,
    value: Result<SubmittedValue, serde_json::Error>,
) -> Result<String, RuntimeError> {
    let wrong = |reason| wrong_type(pause, reason);
    let value = value.map_err(|error| wrong(error.to_string()))?;
    let value = value.of_type_named(&pause.expected).map_err(wrong)?;
    let Some(schema) = &pause.schema else {
        return Err(RuntimeError::NoSchema {
            execution: row.id,
            flow: row.flow.clone(),
            path: pause.path.clone(),
            expected: pause.expected.clone(),
        });
    };
    let damaged = |reason: String| RuntimeError::Unreadable {
        execution: row.id,
        path: pause.path.clone(),
        reason: format!("the JSON Schema of its question is damaged: {reason}"),
    };
    let schema: Value = serde_json::from_str(schema).map_err(|error| damaged(error.to_string()))?;
    let validator =
        jsonschema::validator_for(&schema).map_err(|error| damaged(error.to_string()))?;
    let violations: Vec<String> = validator.iter_errors(&value).map(violation).collect();
    if !violations.is_empty() {
        return Err(wrong(violations.join("; ")));
    }
    let answer = value.to_string();
    payload::check(&answer, VALUE_DEPTH).map_err(wrong)?;
    Ok(answer)
}

/// The violation and its place.
#[cfg(feature = "schema")]
fn violation(error: jsonschema::ValidationError<'_>) -> String {
    let place = error.instance_path().to_string();
    if place.is_empty() {
        error.to_string()
    } else {
        format!("{error} at `{place}`")
    }
}

#[cfg(not(feature = "schema"))]
fn accepted_by_schema(
    row: &Row,
    _: &PauseRow,
    _: Result<SubmittedValue, serde_json::Error>,
) -> Result<String, RuntimeError> {
    Err(RuntimeError::NotRegistered {
        flow: row.flow.clone(),
    })
}
