//! What promises hold: a question that is asked, and what it is settled with.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The promise that says that a question is asked.
pub(crate) fn asked(question: &str) -> String {
    format!("asked {question}")
}

/// A question that is asked.
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

/// What a question is settled with.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Settled {
    Answer(Value),
    TimedOut,
    /// The run waits for the answer no more, or is over.
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
