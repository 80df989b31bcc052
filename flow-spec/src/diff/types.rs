//! Compares two schemas by the values that they allow.

use serde_json::{Map, Value};

/// The relation of two schemas of a value.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Types {
    Same,
    /// The same values with another description, or with fewer details.
    Described,
    /// Other values, with the names of the old and the new type if these differ.
    Other(Option<(String, String)>),
}

pub(super) fn compare(old: &Value, new: &Value) -> Types {
    if old == new {
        return Types::Same;
    }
    let rust_type = |schema: &Value| schema.get("rustType")?.as_str().map(str::to_owned);
    if let (Some(old), Some(new)) = (rust_type(old), rust_type(new))
        && old != new
    {
        return Types::Other(Some((old, new)));
    }
    let (old_shape, new_shape) = (shape(old), shape(new));
    let says_nothing = |shape: &Value| shape.as_object().is_some_and(Map::is_empty);
    if old_shape == new_shape || says_nothing(&old_shape) || says_nothing(&new_shape) {
        return Types::Described;
    }
    let called = |schema: &Value| {
        let called = rust_type(schema);
        called.or_else(|| schema.get("type")?.as_str().map(str::to_owned))
    };
    let names = called(old).zip(called(new));
    Types::Other(names.filter(|(old, new)| old != new))
}

/// Keywords that are for people, and do not restrict values.
const WORDS: [&str; 9] = [
    "rustType",
    "description",
    "title",
    "examples",
    "default",
    "defaultOmitted",
    // Compared by itself.
    "add",
    "$comment",
    "$schema",
];

/// Keywords whose members are named by users, and are not keywords themselves.
const NAMES: [&str; 4] = ["properties", "patternProperties", "$defs", "definitions"];

/// The schema without the parts that are only for people.
fn shape(schema: &Value) -> Value {
    match schema {
        Value::Object(keywords) => {
            let kept = keywords
                .iter()
                .filter(|(keyword, _)| !WORDS.contains(&keyword.as_str()));
            let kept = kept.map(|(keyword, value)| match value {
                Value::Object(values) if NAMES.contains(&keyword.as_str()) => {
                    let values = values.iter();
                    let values = values.map(|(name, value)| (name.clone(), shape(value)));
                    (keyword.clone(), Value::Object(values.collect()))
                }
                _ => (keyword.clone(), shape(value)),
            });
            Value::Object(kept.collect())
        }
        Value::Array(items) => items.iter().map(shape).collect(),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn other_words_are_the_same_values() {
        let old = json!({ "type": "object", "properties": { "title": { "type": "string" } } });
        let new = json!({ "title": "Claim", "type": "object", "properties": { "title": { "type": "string" } } });
        assert_eq!(compare(&old, &new), Types::Described);
    }

    #[test]
    fn a_field_called_like_a_keyword_is_a_field() {
        let old = json!({ "properties": { "title": { "type": "string" } } });
        assert_eq!(
            compare(&old, &json!({ "properties": {} })),
            Types::Other(None)
        );
    }

    #[test]
    fn a_schema_that_is_there_now_says_more_of_the_same() {
        let old = json!({ "rustType": "Claim" });
        let new = json!({ "type": "object", "rustType": "Claim" });
        assert_eq!(compare(&old, &new), Types::Described);
    }
}
