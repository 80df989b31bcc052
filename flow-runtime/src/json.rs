//! Values as JSON.

use std::error::Error;
use std::fmt;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::exact::{Inexact, difference, to_json};
use crate::input::{Unfit, read_input};

/// Values that a durable run can keep: they are `Serialize` and `Deserialize`, and borrow nothing.
///
/// Derive both for the type. A value that cannot be stored, such as a client, belongs in a field of
/// a node that the flow declares: `node ask: Ask;`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be stored, so a flow with such a value cannot be run durably",
    label = "not `Serialize` and `Deserialize`",
    note = "derive `serde::Serialize` and `serde::Deserialize` for `{Self}`; a plain `run` does not need them",
    note = "what cannot be stored, such as a client, belongs in a field of a node that the flow declares: `node ask: Ask;`"
)]
pub trait Stored: Serialize + DeserializeOwned + Send {}

#[diagnostic::do_not_recommend]
impl<T: Serialize + DeserializeOwned + Send> Stored for T {}

/// A way to store values of type `T`. The only one is [`Json`], for types that are [`Stored`].
pub trait Keep<T> {
    /// The value as JSON, if JSON can express it.
    fn keep(value: &T) -> Result<Value, Inexact>;
    /// Reads a value from this JSON.
    fn give(value: Value) -> Result<T, serde_json::Error>;
    /// Like [`give`](Self::give), for an input, which somebody outside the program wrote.
    fn give_input(value: Value) -> Result<T, Unfit>;
}

/// Stores values as JSON.
#[derive(Debug)]
pub struct Json;

impl<T: Stored> Keep<T> for Json {
    fn keep(value: &T) -> Result<Value, Inexact> {
        to_json(value)
    }

    fn give(value: Value) -> Result<T, serde_json::Error> {
        serde_json::from_value(value)
    }

    fn give_input(value: Value) -> Result<T, Unfit> {
        read_input(value)
    }
}

/// Keeps no values: for what is known of a flow without them.
#[derive(Debug)]
pub enum Unkept {}

impl<T> Keep<T> for Unkept {
    fn keep(_: &T) -> Result<Value, Inexact> {
        unreachable!("nothing is stored by it")
    }

    fn give(_: Value) -> Result<T, serde_json::Error> {
        unreachable!("nothing is stored by it")
    }

    fn give_input(_: Value) -> Result<T, Unfit> {
        unreachable!("nothing is stored by it")
    }
}

/// The values of a flow by key, as JSON: its inputs, the state between two of its nodes, or its
/// outputs.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Saved(pub Map<String, Value>);

/// The error for a value that could not be stored or read.
#[derive(Debug)]
pub struct Unstorable {
    /// The key of the value.
    pub key: String,
    /// The reason.
    pub reason: String,
}

impl fmt::Display for Unstorable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`: {}", self.key, self.reason)
    }
}

impl Error for Unstorable {}

impl Unstorable {
    /// A part of the value of this key.
    pub fn part_of(key: &str, Inexact { path, reason }: Inexact) -> Self {
        Unstorable {
            key: format!("{key}{path}"),
            reason,
        }
    }
}

impl Saved {
    /// Compares these values with `read`, which was written from the values read from these. Values
    /// that are missing there are not compared.
    ///
    /// `write` writes the values that were read, or those from which these were written. A value
    /// that it writes differently each time cannot be checked.
    ///
    /// # Errors
    ///
    /// The value that is written differently.
    pub fn unchanged(
        &self,
        read: &Saved,
        write: impl Fn() -> Result<Saved, Unstorable>,
    ) -> Result<(), Unstorable> {
        match self.changed_in(read) {
            Some(unstorable) if write()?.changed_in(&write()?).is_none() => Err(unstorable),
            _ => Ok(()),
        }
    }

    fn changed_in(&self, read: &Saved) -> Option<Unstorable> {
        self.0.iter().find_map(|(key, written)| {
            let inexact = difference(written, read.0.get(key)?)?;
            Some(Unstorable::part_of(key, inexact))
        })
    }

    /// The members of a JSON object. `None` if the value is not an object.
    pub fn from_json(value: Value) -> Option<Saved> {
        match value {
            Value::Object(values) => Some(Saved(values)),
            _ => None,
        }
    }

    /// The values as a JSON object.
    pub fn into_json(self) -> Value {
        Value::Object(self.0)
    }

    /// Adds the value, if it is `Some`.
    #[doc(hidden)]
    pub fn put<K: Keep<T>, T>(&mut self, key: &str, value: Option<&T>) -> Result<(), Unstorable> {
        if let Some(value) = value {
            let value = K::keep(value).map_err(|inexact| Unstorable::part_of(key, inexact))?;
            self.0.insert(key.to_owned(), value);
        }
        Ok(())
    }

    /// Takes out an optional value.
    #[doc(hidden)]
    pub fn take<K: Keep<T>, T>(&mut self, key: &str) -> Result<Option<T>, Unstorable> {
        let value = self.0.remove(key).map(K::give).transpose();
        value.map_err(|error| unstorable(key, &error))
    }

    /// Adds the label of the end.
    #[doc(hidden)]
    pub fn put_end(&mut self, end: &str) {
        self.0
            .insert("end".to_owned(), Value::String(end.to_owned()));
    }

    /// Takes out the label, and returns the end that has it.
    #[doc(hidden)]
    pub fn take_end<E: Copy>(
        &mut self,
        ends: &[E],
        label: fn(E) -> &'static str,
    ) -> Result<E, Unstorable> {
        let found = self.0.remove("end");
        let text = found.as_ref().and_then(Value::as_str).unwrap_or_default();
        ends.iter()
            .copied()
            .find(|end| label(*end) == text)
            .ok_or_else(|| Unstorable {
                key: "end".to_owned(),
                reason: format!("the flow has no end \"{text}\""),
            })
    }

    /// Takes out a required value.
    #[doc(hidden)]
    pub fn take_required<K: Keep<T>, T>(&mut self, key: &str) -> Result<T, Unstorable> {
        self.take::<K, T>(key)?.ok_or_else(|| Saved::missing(key))
    }

    /// The error for a required value that is missing.
    #[doc(hidden)]
    pub fn missing(key: &str) -> Unstorable {
        Unstorable {
            key: key.to_owned(),
            reason: "it is missing".to_owned(),
        }
    }
}

fn unstorable(key: &str, error: &serde_json::Error) -> Unstorable {
    Unstorable {
        key: key.to_owned(),
        reason: error.to_string(),
    }
}
