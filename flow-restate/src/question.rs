//! The values of promises: a question and its settlement.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The name of the promise for an open question.
pub(crate) fn asked(question: &str) -> String {
    format!("asked {question}")
}

/// An open question.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Asked {
    /// The path of its node.
    pub(crate) path: String,
    pub(crate) prompt: String,
    /// The type of the answer, and its JSON Schema.
    #[serde(rename = "type")]
    pub(crate) ty: String,
    pub(crate) schema: Option<Value>,
}

/// The settlement of a question.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Settled {
    Answer(Value),
    TimedOut,
    /// The run no longer waits for the answer, or is over.
    Withdrawn,
}

impl Settled {
    /// [`Settled::Withdrawn`] as JSON.
    pub(crate) const WITHDRAWN: &[u8] = br#""withdrawn""#;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_that_is_withdrawn_is_written_so() {
        let written = serde_json::to_vec(&Settled::Withdrawn).unwrap();
        assert_eq!(written, Settled::WITHDRAWN);
    }
}
