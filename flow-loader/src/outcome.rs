//! The outcome of a step, for an engine that may store it.

use std::any::type_name;
use std::fmt;

use serde::de::{Deserialize, Deserializer};
use serde::ser::{Error as _, Serialize, Serializer};
use serde_json::Value;

use crate::cell::AnyValue;
use crate::value::ValueType;

/// The outcome of a node, of any type: a value, or JSON that an engine has stored and that only the
/// flow can read. For an engine that does not look at outcomes, the number of the action.
pub struct Outcome(Repr);

enum Repr {
    /// The values are in the state already, and the node took the action with this number.
    Written(usize),
    Value(AnyValue, &'static ValueType),
    /// Boxed, because most outcomes are values.
    Stored(Box<Value>),
}

impl Outcome {
    #[inline]
    pub(crate) fn written(action: usize) -> Self {
        Outcome(Repr::Written(action))
    }

    #[inline]
    pub(crate) fn new(value: AnyValue, ty: &'static ValueType) -> Self {
        Outcome(Repr::Value(value, ty))
    }

    /// The number of the action, if the values are in the state already.
    #[inline]
    pub(crate) fn action(&self) -> Option<usize> {
        match self.0 {
            Repr::Written(action) => Some(action),
            Repr::Value(..) | Repr::Stored(_) => None,
        }
    }

    /// The value.
    ///
    /// # Errors
    ///
    /// Why the stored value cannot be read, in words.
    pub(crate) fn into_value(self, ty: &'static ValueType) -> Result<AnyValue, String> {
        match self.0 {
            Repr::Written(_) => unreachable!("the caller asked for the value"),
            Repr::Value(value, _) => Ok(value),
            Repr::Stored(stored) => read(*stored, ty).map_err(|reason| {
                let name = ty.short_name();
                format!("the recorded value is not a `{name}`: {reason}")
            }),
        }
    }

    /// The name of the value's type, if it is known.
    pub(crate) fn type_name(&self) -> &'static str {
        match self.0 {
            Repr::Value(_, ty) => ty.name(),
            Repr::Written(_) | Repr::Stored(_) => type_name::<Self>(),
        }
    }

    /// What was read back from the JSON of this outcome, as a value of its type.
    ///
    /// # Errors
    ///
    /// Why it is not one, in words.
    pub(crate) fn read_back(&self, read_back: Outcome) -> Result<Outcome, String> {
        match (&self.0, read_back.0) {
            (Repr::Value(_, ty), Repr::Stored(stored)) => Ok(Outcome::new(read(*stored, ty)?, ty)),
            (_, read_back) => Ok(Outcome(read_back)),
        }
    }
}

/// The value of a type that is stored as this JSON.
fn read(stored: Value, ty: &ValueType) -> Result<AnyValue, String> {
    match ty.json {
        Some(json) => (json.read)(stored).map_err(|error| error.to_string()),
        None => Err("the type is not `Deserialize`".to_owned()),
    }
}

impl Serialize for Outcome {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0 {
            Repr::Value(value, ty) => match ty.json {
                Some(json) => erased_serde::serialize((json.serialize)(value.get()), serializer),
                None => Err(S::Error::custom(format!(
                    "`{}` is not `Serialize` and `Deserialize`",
                    ty.name()
                ))),
            },
            Repr::Stored(stored) => stored.serialize(serializer),
            Repr::Written(_) => Err(S::Error::custom(
                "the engine said that it does not look at outcomes",
            )),
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
            Repr::Written(action) => f.debug_tuple("Outcome").field(action).finish(),
        }
    }
}
