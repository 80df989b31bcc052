//! Types of node errors that are stored with their values, and not only with their texts.
//!
//! A reader of a stored error does not know which node it is from, so `#[node]` makes the types
//! known to the whole program.

use std::any::type_name;
use std::error::Error;
use std::marker::PhantomData;
use std::sync::OnceLock;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::BoxError;
use crate::exact::{to_json_text, unchanged};
use crate::node_error::FallbackError;

/// The maximum depth of the value of an error. A journal has errors within other values.
const DEEPEST: usize = 50;

/// The type of an error of a node.
pub struct ErrorType(Option<Form>);

/// The way to store errors of a type.
struct Form {
    name: fn() -> &'static str,
    keep: fn(&(dyn Error + Send + Sync + 'static)) -> Option<Value>,
    give: fn(Value) -> Option<BoxError>,
}

inventory::collect!(ErrorType);

/// Finds how errors of a type are stored. Inherent items take precedence over those of the trait.
pub struct ErrorTypeOf<E>(PhantomData<E>);

impl<E> ErrorTypeOf<E>
where
    E: Error + Serialize + DeserializeOwned + Send + Sync + 'static,
{
    /// Errors are stored with their values.
    pub const __TYPE: ErrorType = ErrorType(Some(Form {
        name: type_name::<E>,
        keep: |error| keep(error.downcast_ref::<E>()?),
        give: |value| Some(Box::new(serde_json::from_value::<E>(value).ok()?)),
    }));
}

/// The fallback for all other types.
pub trait OtherError {
    /// Errors are stored only with their texts.
    const __TYPE: ErrorType = ErrorType(None);
}

impl<E> OtherError for ErrorTypeOf<E> {}

/// Returns the value of an error, if the same value is read back from it.
fn keep<E: Serialize + DeserializeOwned>(error: &E) -> Option<Value> {
    let text = to_json_text(error).ok()?;
    let read: E = serde_json::from_str(&text).ok()?;
    unchanged(&text, error, &read).ok()?;
    let value = serde_json::from_str(&text).ok()?;
    (depth(&value) <= DEEPEST).then_some(value)
}

fn depth(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        Value::Object(object) => 1 + object.values().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}

/// The types whose errors are stored with their values.
fn forms() -> &'static [&'static Form] {
    static FORMS: OnceLock<Vec<&'static Form>> = OnceLock::new();
    FORMS.get_or_init(|| {
        let types = inventory::iter::<ErrorType>.into_iter();
        let mut forms: Vec<_> = types.filter_map(|ErrorType(form)| form.as_ref()).collect();
        forms.sort_by_key(|form| (form.name)());
        forms.dedup_by_key(|form| (form.name)());
        forms
    })
}

/// The value of an error, beside its texts.
#[derive(Serialize, Deserialize)]
pub(crate) struct TypedError {
    r#type: String,
    value: Value,
    /// True for the error of a fallback, which has another error as its source.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) of_fallback: bool,
}

impl TypedError {
    /// Returns `None` if only the texts of the error are stored.
    pub(crate) fn of(error: &(dyn Error + Send + Sync + 'static)) -> Option<Self> {
        let fallback = error.downcast_ref::<FallbackError>();
        let error = fallback.map_or(error, |fallback| &*fallback.error);
        forms().iter().find_map(|form| {
            Some(TypedError {
                r#type: (form.name)().to_owned(),
                value: (form.keep)(error)?,
                of_fallback: fallback.is_some(),
            })
        })
    }

    /// The error, if the program has a node with such errors.
    pub(crate) fn read(self) -> Option<BoxError> {
        let form = forms().iter().find(|form| (form.name)() == self.r#type)?;
        (form.give)(self.value)
    }
}
