//! The answers of the server.

use std::collections::HashMap;

use flow_store::StoreError;
use redis::Value;

use super::errors::not_understood;

/// Returns an array.
pub(super) fn array(value: Value) -> Result<Vec<Value>, StoreError> {
    match value {
        Value::Array(values) | Value::Set(values) => Ok(values),
        other => Err(not_understood(format!("{other:?}"))),
    }
}

/// Returns an array that begins with a word for its kind.
pub(super) fn tagged(value: Value) -> Result<(String, Vec<Value>), StoreError> {
    let mut values = array(value)?.into_iter();
    let tag = values.next().and_then(text);
    let tag = tag.ok_or_else(|| not_understood("an array without a word at its beginning"))?;
    Ok((tag, values.collect()))
}

/// Returns the error for a script that answers with an unknown word.
pub(super) fn unknown(tag: &str) -> StoreError {
    not_understood(format!("`{tag}`"))
}

pub(super) fn bytes(value: Value) -> Option<Vec<u8>> {
    match value {
        Value::BulkString(bytes) => Some(bytes),
        Value::SimpleString(text) => Some(text.into_bytes()),
        Value::Int(number) => Some(number.to_string().into_bytes()),
        _ => None,
    }
}

/// Returns a text, or `None` if it is missing or invalid.
pub(super) fn text(value: Value) -> Option<String> {
    String::from_utf8(bytes(value)?).ok()
}

/// A value, or what is wrong with it.
pub(super) type Reading<T> = Result<T, String>;

/// The fields of a hash or of a record.
#[derive(Debug, Default)]
pub(super) struct Fields(HashMap<String, Vec<u8>>);

impl Fields {
    pub(super) fn new(value: Value) -> Result<Fields, StoreError> {
        let mut fields = HashMap::new();
        let pairs: Vec<(Value, Value)> = match value {
            Value::Map(pairs) => pairs,
            other => {
                let mut flat = array(other)?.into_iter();
                std::iter::from_fn(|| Some((flat.next()?, flat.next()?))).collect()
            }
        };
        for (name, value) in pairs {
            if let (Some(name), Some(value)) = (text(name), bytes(value)) {
                fields.insert(name, value);
            }
        }
        Ok(Fields(fields))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn optional_text(&self, field: &str) -> Reading<Option<String>> {
        let bytes = self.0.get(field).cloned();
        let text = bytes.map(|bytes| {
            String::from_utf8(bytes).map_err(|_| format!("`{field}` is not a text of UTF-8"))
        });
        text.transpose()
    }

    pub(super) fn text(&self, field: &str) -> Reading<String> {
        let text = self.optional_text(field)?;
        text.ok_or_else(|| format!("it has no `{field}`"))
    }

    /// Reads a value that is written as text, such as a number. An empty one counts as missing.
    pub(super) fn optional<T: std::str::FromStr<Err: std::fmt::Display>>(
        &self,
        field: &str,
    ) -> Reading<Option<T>> {
        let text = self.optional_text(field)?.filter(|text| !text.is_empty());
        let value = text.map(|text| {
            text.parse()
                .map_err(|error: T::Err| format!("`{field}` is `{text}`: {error}"))
        });
        value.transpose()
    }

    pub(super) fn value<T: std::str::FromStr<Err: std::fmt::Display>>(
        &self,
        field: &str,
    ) -> Reading<T> {
        let value = self.optional(field)?;
        value.ok_or_else(|| format!("it has no `{field}`"))
    }
}
