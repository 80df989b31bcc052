//! The answers for the errors of definitions.

use axum::http::StatusCode;
use flow_definitions::DefinitionError;
use serde_json::json;

use crate::problem::Problem;

fn taken(detail: String) -> Problem {
    let title = "The name is taken";
    Problem::new(StatusCode::CONFLICT, "name-taken", title, detail)
}

impl From<DefinitionError> for Problem {
    fn from(error: DefinitionError) -> Self {
        let detail = error.to_string();
        let unprocessable = |kind, title| {
            Problem::new(
                StatusCode::UNPROCESSABLE_ENTITY,
                kind,
                title,
                detail.clone(),
            )
        };
        match error {
            DefinitionError::NotFound(_) => Problem::not_found(detail),
            DefinitionError::Conflict { stored, .. } => {
                let title = "Somebody else has changed the definition";
                Problem::new(StatusCode::CONFLICT, "revision", title, detail)
                    .with("storedRevision", stored)
            }
            DefinitionError::NameTaken(_) => taken(detail),
            DefinitionError::NameRequired => unprocessable("name", "The name is missing"),
            DefinitionError::Malformed(_) => Problem::bad_request(detail),
            DefinitionError::Unsound(findings) => {
                unprocessable("unsound", "The flow is not sound").with("errors", json!(findings))
            }
            DefinitionError::NotRust(reasons) => {
                let reasons = reasons.into_iter();
                let reasons = reasons
                    .map(|(pointer, message)| json!({ "pointer": pointer, "message": message }));
                let errors: Vec<_> = reasons.collect();
                unprocessable("not-rust", "The flow cannot be written as Rust")
                    .with("errors", errors)
            }
            DefinitionError::FlowNameTaken(_) => taken(detail),
            DefinitionError::Runtime(error) => error.into(),
            DefinitionError::StoredOnly { stored, reason } => {
                Problem::from(*reason).with("storedRevision", stored)
            }
            error => {
                // The error may name files and hosts, which only the operator may see.
                tracing::error!(error = ?error, "the store of definitions failed");
                Problem::unavailable(
                    "the store of definitions failed; the log of the server says why",
                )
            }
        }
    }
}
