//! The outcome of a step, for an engine that may store it.

use std::fmt;

use serde::de::{Deserialize, Deserializer};
use serde::ser::{Error as _, Serialize, Serializer};
use serde_json::Value;

use crate::value::{AnyValue, ValueType};

/// The outcome of a node, of any type: a value, or JSON that an engine has stored and that only the
/// flow can read.
pub struct Outcome(Repr);

enum Repr {
    Value(AnyValue, &'static ValueType),
    /// Boxed, because most outcomes are values.
    Stored(Box<Value>),
}

impl Outcome {
    #[inline]
    pub(crate) fn new(value: AnyValue, ty: &'static ValueType) -> Self {
        Outcome(Repr::Value(value, ty))
    }

    /// The value.
    ///
    /// # Errors
    ///
    /// Why the stored value cannot be read, in words.
    #[inline]
    pub(crate) fn into_value(self, ty: &'static ValueType) -> Result<AnyValue, String> {
        let stored = match self.0 {
            Repr::Value(value, _) => return Ok(value),
            Repr::Stored(stored) => stored,
        };
        let reason = match ty.json {
            Some(json) => match (json.read)(*stored) {
                Ok(value) => return Ok(value),
                Err(error) => error.to_string(),
            },
            None => "the type is not `Deserialize`".to_owned(),
        };
        let name = ty.short_name();
        Err(format!("the recorded value is not a `{name}`: {reason}"))
    }
}

impl Serialize for Outcome {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0 {
            Repr::Value(value, ty) => match ty.json {
                Some(json) => erased_serde::serialize((json.serialize)(&**value), serializer),
                None => Err(S::Error::custom(format!(
                    "`{}` is not `Serialize` and `Deserialize`",
                    ty.name()
                ))),
            },
            Repr::Stored(stored) => stored.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Outcome {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Outcome(Repr::Stored(Deserialize::deserialize(
            deserializer,
        )?)))
    }
}

impl fmt::Debug for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Repr::Value(_, ty) => f.debug_tuple("Outcome").field(&ty.name()).finish(),
            Repr::Stored(stored) => f.debug_tuple("Outcome").field(stored).finish(),
        }
    }
}
