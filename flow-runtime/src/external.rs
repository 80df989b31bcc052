//! Types whose values come from outside the program, as JSON: the answers to questions, and signals.

use std::any::TypeId;
use std::fmt;
use std::marker::PhantomData;

use serde::de::Error as _;
use serde_json::Value;

use crate::exact::{difference, to_json};
use crate::json::Stored;
use crate::shape::shape_of;

/// A type whose values come from outside the program, as JSON: one with `#[node(human = "…")]` or
/// `#[node(signal)]`.
pub trait External: Send + Sized + 'static {
    /// The name of the type, as written.
    const NAME: &'static str;

    /// The way in which its values are read from JSON and written to it.
    #[doc(hidden)]
    const FORM: Form<Self>;

    /// The type's JSON Schema, if it has one (feature `schemars`).
    fn schema() -> Option<Value> {
        None
    }

    /// Reads a value from this JSON.
    ///
    /// # Errors
    ///
    /// The JSON is not a value of the type.
    fn from_json(value: Value) -> Result<Self, serde_json::Error> {
        (Self::FORM.give)(value)
    }

    /// The value as JSON.
    ///
    /// # Errors
    ///
    /// The value cannot be written as JSON.
    fn to_json(&self) -> Result<Value, serde_json::Error> {
        (Self::FORM.keep)(self)
    }
}

/// Finds the form of a type whose values can come from outside, as JSON. Inherent items take
/// precedence over those of the trait.
pub struct FormOf<T>(PhantomData<T>);

impl<T: Stored> FormOf<T> {
    /// The type has a form.
    pub const __HAS_FORM: bool = true;
    /// The form of the type.
    pub const __FORM: Form<T> = Form {
        keep: |value| to_json(value).map_err(serde_json::Error::custom),
        give: serde_json::from_value,
        read: |deserializer| erased_serde::deserialize::<T>(deserializer).map(drop),
    };
}

/// The fallback for all other types. A constant beside each use reports the mistake.
pub trait NoForm {
    /// The type.
    type Value;
    /// The type has no form.
    const __HAS_FORM: bool = false;
    /// Never used.
    const __FORM: Form<Self::Value> = Form {
        keep: |_| unreachable!("a type without a form does not compile"),
        give: |_| unreachable!("a type without a form does not compile"),
        read: |_| unreachable!("a type without a form does not compile"),
    };
}

impl<T> NoForm for FormOf<T> {
    type Value = T;
}

/// The way in which the values of a type are read from JSON and written to it. If
/// [`External`] required serde's derives directly, rustc would report missing ones twice, and
/// without our message.
pub struct Form<T> {
    keep: fn(&T) -> Result<Value, serde_json::Error>,
    give: fn(Value) -> Result<T, serde_json::Error>,
    read: Read,
}

/// Reads a value from a deserializer, and drops it.
type Read = fn(&mut dyn erased_serde::Deserializer<'_>) -> Result<(), erased_serde::Error>;

impl<T> fmt::Debug for Form<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Form")
    }
}

/// An answer to a question: a value of the type that the question asks for
/// (`#[node(human = "…")]`), or a `serde_json::Value` from elsewhere.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an answer to a question",
    label = "not an answer",
    note = "answer with a value of the type that is asked for, which has `#[node(human = \"…\")]`, or with a \
            `serde_json::Value`, such as `serde_json::json!(…)`"
)]
pub trait Submission {
    /// Returns the answer as JSON, with its type.
    #[doc(hidden)]
    fn submit(self) -> Result<SubmittedValue, serde_json::Error>;
}

/// An answer that has not been checked.
#[doc(hidden)]
#[derive(Debug, Clone)]
pub struct SubmittedValue {
    value: Value,
    /// The type and its name, if the answer was a value in Rust.
    of: Option<(TypeId, &'static str)>,
}

impl SubmittedValue {
    /// Returns the answer as JSON, if its type has this name or is unknown.
    ///
    /// # Errors
    ///
    /// The type of the answer has another name.
    pub fn of_type_named(self, name: &str) -> Result<Value, String> {
        match self.of {
            Some((_, other)) if other != name => Err(format!("it is a `{other}`")),
            _ => Ok(self.value),
        }
    }
}

/// Returns the answer as JSON, if the same answer is read from it.
fn survives<T: External>(answer: &T) -> Result<Value, serde_json::Error> {
    let written = answer.to_json()?;
    let read = T::from_json(written.clone())?.to_json()?;
    match difference(&written, &read) {
        None => Ok(written),
        // An answer that is written differently each time cannot be checked.
        Some(_) if difference(&written, &answer.to_json()?).is_some() => Ok(written),
        Some(inexact) => Err(serde_json::Error::custom(inexact)),
    }
}

impl Submission for Value {
    fn submit(self) -> Result<SubmittedValue, serde_json::Error> {
        Ok(SubmittedValue {
            value: self,
            of: None,
        })
    }
}

#[diagnostic::do_not_recommend]
impl<T: External> Submission for T {
    fn submit(self) -> Result<SubmittedValue, serde_json::Error> {
        Ok(SubmittedValue {
            value: survives(&self)?,
            of: Some((TypeId::of::<T>(), T::NAME)),
        })
    }
}

/// A type whose values come from outside the program.
#[derive(Clone, Copy)]
pub struct ExternalType {
    name: &'static str,
    id: TypeId,
    schema: fn() -> Option<Value>,
    check: fn(&Value) -> Result<(), String>,
    survives: fn(&Value) -> Result<(), String>,
    read: Read,
}

impl ExternalType {
    /// The description of this type.
    pub fn of<T: External>() -> Self {
        ExternalType {
            name: T::NAME,
            id: TypeId::of::<T>(),
            schema: T::schema,
            check: |value| {
                let given = T::from_json(value.clone());
                given.map(drop).map_err(|error| error.to_string())
            },
            survives: |value| {
                let given = T::from_json(value.clone()).and_then(|given| survives(&given));
                given.map(drop).map_err(|error| error.to_string())
            },
            read: T::FORM.read,
        }
    }

    /// The type's name, as written.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Returns a value as JSON, if it is a value of the type, and JSON can express it.
    ///
    /// # Errors
    ///
    /// The reason why it is not such a value, in words.
    pub fn accept(&self, value: impl Submission) -> Result<Value, String> {
        self.accept_submitted(value.submit())
    }

    /// Like [`accept`](Self::accept), for a value of any type.
    #[doc(hidden)]
    pub fn accept_submitted(
        &self,
        value: Result<SubmittedValue, serde_json::Error>,
    ) -> Result<Value, String> {
        let SubmittedValue { value, of } = value.map_err(|error| error.to_string())?;
        match of {
            Some((id, _)) if id == self.id => {}
            Some((_, name)) if name == self.name => {
                return Err(format!("it is another type that is named `{name}`"));
            }
            Some((_, name)) => return Err(format!("it is a `{name}`")),
            None => {}
        }
        (self.survives)(&value).map(|()| value)
    }

    /// Reads a value of the type from a deserializer: see
    /// [`Question::read`](crate::Question::read).
    ///
    /// # Errors
    ///
    /// The deserializer did not return a value of the type.
    pub fn read(
        &self,
        deserializer: &mut dyn erased_serde::Deserializer<'_>,
    ) -> Result<(), erased_serde::Error> {
        (self.read)(deserializer)
    }

    /// The type's JSON Schema: that of `schemars::JsonSchema` if the type implements it (feature
    /// `schemars`), or else [what its `Deserialize` requests](crate::shape::Shape::json_schema).
    /// `None` if it requests nothing in particular, as for an internally tagged enum.
    pub fn schema(&self) -> Option<Value> {
        (self.schema)().or_else(|| shape_of(|probe| self.read(probe)).json_schema())
    }

    /// Checks that a value is one of the type.
    ///
    /// # Errors
    ///
    /// The reason why it is not, in words.
    pub fn check(&self, value: &Value) -> Result<(), String> {
        (self.check)(value)
    }
}

impl fmt::Debug for ExternalType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ExternalType").field(&self.name).finish()
    }
}
