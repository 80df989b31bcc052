//! Errors of nodes in a journal: their texts and, if their types allow it, their values.

use std::error::Error;
use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::error::BoxError;
use crate::error_types::TypedError;
use crate::node_error::{Failure, FallbackError, NodeError, Phase, TimedOut};
use crate::panics::Panicked;

/// A node's error as JSON.
#[derive(Serialize, Deserialize)]
struct Stored {
    path: String,
    attempts: u32,
    /// `None` stands for `exec`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    phase: Option<StoredPhase>,
    #[serde(flatten)]
    failure: StoredFailure,
    /// The error that the node returned, if it is stored with its value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    error: Option<TypedError>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum StoredPhase {
    Prep,
    Post,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum StoredFailure {
    /// The texts of the error and of its sources.
    Returned(Vec<String>),
    TimedOut(Duration),
    Deadline(Duration),
    /// The message of the panic.
    Panicked(String),
}

/// An error whose type is no longer known.
#[derive(Debug)]
struct Recorded {
    text: String,
    source: Option<Box<Recorded>>,
}

impl fmt::Display for Recorded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Error for Recorded {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(self.source.as_deref()?)
    }
}

fn texts(error: &(dyn Error + 'static)) -> Vec<String> {
    let mut texts = Vec::new();
    let mut next = Some(error);
    while let Some(error) = next {
        texts.push(error.to_string());
        next = error.source();
    }
    texts
}

fn recorded(texts: Vec<String>) -> Recorded {
    let mut found = None;
    for text in texts.into_iter().rev() {
        found = Some(Box::new(Recorded {
            text,
            source: found,
        }));
    }
    found.map_or_else(
        || Recorded {
            text: "the error has no text".to_owned(),
            source: None,
        },
        |first| *first,
    )
}

/// The stored error: with its value, if the program knows its type, or else with its texts.
fn returned(mut texts: Vec<String>, error: Option<TypedError>) -> BoxError {
    let Some(typed) = error else {
        return Box::new(recorded(texts));
    };
    let of_fallback = typed.of_fallback;
    match typed.read() {
        None => Box::new(recorded(texts)),
        Some(error) if of_fallback => {
            texts.drain(..1.min(texts.len()));
            let cause = Box::new(recorded(texts));
            Box::new(FallbackError { error, cause })
        }
        Some(error) => error,
    }
}

impl NodeError {
    /// This error, as it is read after it was stored.
    pub fn into_stored(self) -> NodeError {
        match serde_json::to_value(&self).and_then(serde_json::from_value::<NodeError>) {
            Ok(stored) => stored.stored_of(self),
            Err(_) => self,
        }
    }
}

/// Stores the path, the attempts, and the texts of the error and of its sources. The error itself
/// is stored too, if a node returns errors of its type and the type is `Serialize` and
/// `Deserialize`. Any other error is read back with the same texts, but with another type.
impl Serialize for NodeError {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (failure, error) = match self.failure() {
            Failure::Returned(error) => (
                StoredFailure::Returned(texts(&**error)),
                TypedError::of(&**error),
            ),
            Failure::TimedOut(timed_out) => (StoredFailure::TimedOut(timed_out.after), None),
            Failure::Deadline(timed_out) => (StoredFailure::Deadline(timed_out.after), None),
            Failure::Panicked(panicked) => {
                (StoredFailure::Panicked(panicked.message.clone()), None)
            }
        };
        let stored = Stored {
            path: self.path().to_owned(),
            attempts: self.attempts(),
            phase: match self.phase() {
                Phase::Prep => Some(StoredPhase::Prep),
                Phase::Exec => None,
                Phase::Post => Some(StoredPhase::Post),
            },
            failure,
            error,
        };
        stored.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for NodeError {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let stored = Stored::deserialize(deserializer)?;
        let failure = match stored.failure {
            StoredFailure::Returned(texts) => Failure::Returned(returned(texts, stored.error)),
            StoredFailure::TimedOut(after) => Failure::TimedOut(TimedOut { after }),
            StoredFailure::Deadline(after) => Failure::Deadline(TimedOut { after }),
            StoredFailure::Panicked(message) => Failure::Panicked(Panicked { message }),
        };
        let phase = match stored.phase {
            Some(StoredPhase::Prep) => Phase::Prep,
            None => Phase::Exec,
            Some(StoredPhase::Post) => Phase::Post,
        };
        Ok(NodeError::new(stored.path, stored.attempts, failure).in_phase(phase))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_keeps_the_texts_of_its_sources() {
        let texts = ["no answer", "no connection", "no cable"].map(str::to_owned);
        let failure = Failure::Returned(Box::new(recorded(texts.into())));
        let error = NodeError::new("desk.call".to_owned(), 3, failure);
        let read: NodeError = serde_json::from_value(serde_json::json!(error)).unwrap();
        assert_eq!(
            (read.path(), read.attempts(), format!("{read:#}")),
            ("desk.call", 3, format!("{error:#}"))
        );
        assert_eq!(read.phase(), Phase::Exec);
        let Failure::Returned(first) = read.failure() else {
            panic!("{read}")
        };
        let second = first.source().unwrap();
        assert_eq!(second.to_string(), "no connection");
        assert_eq!(second.source().unwrap().to_string(), "no cable");
    }

    #[test]
    fn a_panic_stays_one() {
        let message = "no bread".to_owned();
        let failure = Failure::Panicked(Panicked { message });
        let error = NodeError::new("desk.call".to_owned(), 2, failure);
        let read: NodeError = serde_json::from_value(serde_json::json!(error)).unwrap();
        assert_eq!(read.panicked(), error.panicked());
        let said = "node `desk.call` failed after 2 attempts: panicked: no bread";
        assert_eq!(format!("{read:#}"), said);
    }

    #[test]
    fn an_error_keeps_its_phase() {
        for phase in [Phase::Prep, Phase::Exec, Phase::Post] {
            let failure = Failure::Returned("no".into());
            let error = NodeError::new("desk.call".to_owned(), 1, failure).in_phase(phase);
            let stored = serde_json::json!(error);
            let read: NodeError = serde_json::from_value(stored.clone()).unwrap();
            assert_eq!(read.phase(), phase, "{stored}");
        }
    }
}
