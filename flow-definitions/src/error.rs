//! The errors of definitions.

use std::error::Error;
use std::fmt;

use flow_durable::RuntimeError;

use crate::definition::DefinitionId;
use crate::finding::Finding;

/// The error of an operation on definitions. Nothing stored has changed, unless the error is
/// [`Store`](DefinitionError::Store), then it is not known, or
/// [`StoredOnly`](DefinitionError::StoredOnly).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DefinitionError {
    /// No definition has this id.
    #[error("there is no definition {0}")]
    NotFound(DefinitionId),
    /// Somebody else has changed it.
    #[error(
        "the definition has the revision {stored}, and not {expected}: somebody else has changed it"
    )]
    Conflict {
        /// The revision that the caller has seen.
        expected: u64,
        /// The revision that is stored.
        stored: u64,
    },
    /// The name is missing, or has only white space.
    #[error("a flow needs a name")]
    NameRequired,
    /// Another definition has the name.
    #[error("another definition has the name `{0}`")]
    NameTaken(String),
    /// It is not a definition, or not a patch.
    #[error("{0}")]
    Malformed(String),
    /// It has errors, and can be neither active nor loaded.
    #[error("the flow is not sound: {}", errors(.0))]
    Unsound(Vec<Finding>),
    /// It cannot be written as Rust: each reason with its JSON pointer in the definition.
    #[error("`flow!` cannot say it: {}", reasons(.0))]
    NotRust(Vec<(String, String)>),
    /// The runtime has a flow of this name from elsewhere. Only
    /// [`ActiveDefinitions`](crate::ActiveDefinitions) refuses it.
    #[error("another flow has the name `{0}`")]
    FlowNameTaken(String),
    /// The runtime refuses the flow of an active definition.
    #[error(transparent)]
    Runtime(#[from] RuntimeError),
    /// The change is stored, but the runtime cannot have its flow.
    #[error("revision {stored} is stored, but its flow cannot be used here")]
    StoredOnly {
        /// The revision that is stored.
        stored: u64,
        /// The reason.
        #[source]
        reason: Box<DefinitionError>,
    },
    /// The store failed. It is not known whether a change was stored.
    #[error("the store of definitions failed")]
    Store(#[source] Box<dyn Error + Send + Sync>),
}

/// A stored definition that cannot be read: something else changed it, or it is of a later version.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the stored definition {id} (`{name}`) is damaged: {reason}")]
#[non_exhaustive]
pub struct DamagedDefinition {
    /// Its id, as it is stored.
    pub id: String,
    /// Its name, as it is stored beside it.
    pub name: String,
    /// The reason it cannot be read.
    pub reason: String,
}

impl DamagedDefinition {
    /// Creates the error of a store for the definition with this id and name.
    pub fn new(
        id: impl Into<String>,
        name: impl Into<String>,
        reason: impl Into<String>,
    ) -> DamagedDefinition {
        DamagedDefinition {
            id: id.into(),
            name: name.into(),
            reason: reason.into(),
        }
    }
}

fn errors(findings: &[Finding]) -> String {
    let errors = findings.iter().filter(|finding| finding.is_error());
    let errors: Vec<String> = errors.map(|finding| finding.problem.to_string()).collect();
    errors.join("\n")
}

fn reasons(reasons: &[(String, String)]) -> String {
    let reasons = reasons.iter();
    let reasons: Vec<String> = reasons
        .map(|(pointer, reason)| format!("{pointer}: {reason}"))
        .collect();
    reasons.join("\n")
}

/// The error for a value that does not have the shape of a content.
pub(crate) fn malformed(why: impl fmt::Display) -> DefinitionError {
    DefinitionError::Malformed(why.to_string())
}
