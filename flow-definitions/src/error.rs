//! Why something cannot be done with a definition.

use std::error::Error;
use std::fmt;

use crate::definition::DefinitionId;
use crate::finding::Finding;

/// Why something cannot be done with a definition. What is stored has not changed, unless the error is
/// [`Store`](DefinitionError::Store): then it is not known.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DefinitionError {
    /// There is no definition with this id.
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
    /// The store failed. Whether a change was stored is not known.
    #[error("the store of definitions failed")]
    Store(#[source] Box<dyn Error + Send + Sync>),
}

/// A stored definition that cannot be read: it was changed by something else, or is of a later version.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the stored definition {id} (`{name}`) is damaged: {reason}")]
#[non_exhaustive]
pub struct DamagedDefinition {
    /// Its id, as it is stored.
    pub id: String,
    /// Its name, as it is stored beside it.
    pub name: String,
    /// What is wrong with it.
    pub reason: String,
}

impl DamagedDefinition {
    /// For stores: this id and name, and what is wrong.
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

/// The error of what does not have the shape of a content.
pub(crate) fn malformed(why: impl fmt::Display) -> DefinitionError {
    DefinitionError::Malformed(why.to_string())
}
