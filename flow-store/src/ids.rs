//! Ids of executions and tokens of questions.

use std::fmt;
use std::str::FromStr;

use uuid::Uuid;

/// The id of an execution, a UUID of version 7: later ids are greater, also as text. The id of a
/// part of a loop is of version 8, and starts like that of the execution with the loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ExecutionId(Uuid);

/// The token of one question to one person, valid once. It is a UUID of version 4, so it cannot be
/// guessed. Everyone who has it can answer, so `Debug` hides it and logs do not contain it;
/// `Display` shows it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Token(Uuid);

macro_rules! id {
    ($name:ident, $what:literal) => {
        impl $name {
            /// Returns the id as a UUID.
            pub fn as_uuid(&self) -> Uuid {
                self.0
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(&self.0)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }

        impl From<Uuid> for $name {
            fn from(uuid: Uuid) -> Self {
                $name(uuid)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl FromStr for $name {
            type Err = InvalidId;

            fn from_str(text: &str) -> Result<Self, InvalidId> {
                Uuid::from_str(text).map($name).map_err(|_| InvalidId {
                    what: $what,
                    text: text.to_owned(),
                })
            }
        }
    };
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}

id!(ExecutionId, "an execution");
id!(Token, "a token");

/// A text that is not a valid id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidId {
    what: &'static str,
    text: String,
}

impl fmt::Display for InvalidId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "`{}` is not the id of {}: expected a UUID",
            self.text, self.what
        )
    }
}

impl std::error::Error for InvalidId {}
