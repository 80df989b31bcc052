//! The outcome of a step, for an engine that may store it.

use std::any::type_name;
use std::fmt;

use serde::de::{Deserialize, Deserializer};
use serde::ser::{Error as _, Serialize, Serializer};
use serde_json::Value;

use crate::cell::AnyValue;
use crate::value::ValueType;

/// The outcome of a node: a value of any type, or JSON that an engine has stored and that only the
/// flow can read. Empty for an engine that does not inspect outcomes.
//
// It is one word, so that what a step returns is passed in registers. A larger result would have to
// come back from memory.
pub struct Outcome(Option<Box<Kept>>);

enum Kept {
    Value(AnyValue, &'static ValueType),
    Stored(Value),
}

impl Outcome {
    /// The outcome of a node that has passed on what it returned.
    pub(crate) const HANDED_ON: Outcome = Outcome(None);

    pub(crate) fn new(value: AnyValue, ty: &'static ValueType) -> Self {
        Outcome(Some(Box::new(Kept::Value(value, ty))))
    }

    /// Returns `true` if the node has passed on what it returned.
    #[inline]
    pub(crate) fn is_handed_on(&self) -> bool {
        self.0.is_none()
    }

    /// The value.
    ///
    /// # Errors
    ///
    /// The stored value cannot be read; the error is a message.
    pub(crate) fn into_value(self, ty: &'static ValueType) -> Result<AnyValue, String> {
        match self.0.map(|kept| *kept) {
            None => unreachable!("the caller asked whether the value is handed on"),
            Some(Kept::Value(value, _)) => Ok(value),
            Some(Kept::Stored(stored)) => read(stored, ty).map_err(|reason| {
                let name = ty.short_name();
                format!("the recorded value is not a `{name}`: {reason}")
            }),
        }
    }

    /// The name of the value's type, if it is known.
    pub(crate) fn type_name(&self) -> &'static str {
        match self.0.as_deref() {
            Some(Kept::Value(_, ty)) => ty.name(),
            Some(Kept::Stored(_)) | None => type_name::<Self>(),
        }
    }

    /// Turns the value that was read back from this outcome's JSON into a value of its type.
    ///
    /// # Errors
    ///
    /// It is not a value of that type; the error is a message.
    pub(crate) fn read_back(&self, read_back: Outcome) -> Result<Outcome, String> {
        let read_back = read_back.0.map(|kept| *kept);
        match (self.0.as_deref(), read_back) {
            (Some(Kept::Value(_, ty)), Some(Kept::Stored(stored))) => {
                Ok(Outcome::new(read(stored, ty)?, ty))
            }
            (_, read_back) => Ok(Outcome(read_back.map(Box::new))),
        }
    }
}

/// Reads a value of a type from its stored JSON.
fn read(stored: Value, ty: &ValueType) -> Result<AnyValue, String> {
    match ty.json {
        Some(json) => (json.read)(stored).map_err(|error| error.to_string()),
        None => Err("the type is not `Deserialize`".to_owned()),
    }
}

impl Serialize for Outcome {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.as_deref() {
            Some(Kept::Value(value, ty)) => match ty.json {
                Some(json) => erased_serde::serialize((json.serialize)(value.get()), serializer),
                None => Err(S::Error::custom(format!(
                    "`{}` is not `Serialize` and `Deserialize`",
                    ty.name()
                ))),
            },
            Some(Kept::Stored(stored)) => stored.serialize(serializer),
            None => Err(S::Error::custom(
                "the engine said that it does not look at outcomes",
            )),
        }
    }
}

impl<'de> Deserialize<'de> for Outcome {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let stored = Kept::Stored(Deserialize::deserialize(deserializer)?);
        Ok(Outcome(Some(Box::new(stored))))
    }
}

impl fmt::Debug for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.as_deref() {
            Some(Kept::Value(_, ty)) => f.debug_tuple("Outcome").field(&ty.name()).finish(),
            Some(Kept::Stored(stored)) => f.debug_tuple("Outcome").field(stored).finish(),
            None => f.debug_tuple("Outcome").finish(),
        }
    }
}
