//! The schema of the arguments of a tool, for a model.
//!
//! Not all providers support references within a schema. So a definition that is used in one place
//! is written there. With more places, the schema could grow without bounds: there, and in
//! recursive types, references stay.

use std::collections::BTreeMap;

use schemars::generate::SchemaSettings;
use schemars::transform::{RecursiveTransform, Transform as _};
use schemars::{Schema, json_schema};
use serde_json::{Map, Value};

use super::arguments::Parameter;

/// The JSON Schema of the arguments of a tool.
pub(super) fn schema_of(parameters: &[Parameter]) -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.meta_schema = None;
    });
    let mut schemas = settings.into_generator();
    let mut properties = Map::new();
    for parameter in parameters {
        let mut schema = (parameter.schema)(&mut schemas);
        if !parameter.required {
            schema = without_null(schema);
        }
        if !parameter.description.is_empty() {
            schema.insert("description".to_owned(), parameter.description.into());
        }
        properties.insert(parameter.name.to_owned(), schema.into());
    }
    let required: Vec<&str> = parameters
        .iter()
        .filter(|parameter| parameter.required)
        .map(|parameter| parameter.name)
        .collect();
    let mut schema = json_schema!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    });
    let definitions = schemas.take_definitions(true);
    if !definitions.is_empty() {
        schema.insert(DEFINITIONS.to_owned(), definitions.into());
    }
    RecursiveTransform(without_size).transform(&mut schema);
    let mut schema = schema.to_value();
    while let Some(name) = referred_to_once(&schema) {
        put_in_place(&mut schema, &name);
    }
    schema
}

/// Unwraps the schema of an `Option`, if it consists only of the value or null: a missing argument
/// need not be written as `null`.
fn without_null(mut schema: Schema) -> Schema {
    if let Some(Value::Array(values)) = schema.get_mut("enum") {
        values.retain(|value| !value.is_null());
    }
    if let Some(Value::Array(types)) = schema.get_mut("type") {
        types.retain(|name| name != "null");
        if let [only] = &mut types[..] {
            let only = only.take();
            schema.insert("type".to_owned(), only);
        }
    }
    if let Some(Value::Array(choices)) = schema.get_mut("anyOf") {
        choices.retain(|choice| choice["type"] != "null");
        if let [Value::Object(only)] = &mut choices[..] {
            let only = std::mem::take(only);
            schema.remove("anyOf");
            // Keywords of the `Option` describe this place, and override those of the type.
            for (keyword, value) in only {
                if schema.get(&keyword).is_none() {
                    schema.insert(keyword, value);
                }
            }
        }
    }
    schema
}

/// Removes the sizes of numbers: they are not formats of JSON Schema, and some providers refuse
/// unknown formats. The bounds stay.
fn without_size(schema: &mut Schema) {
    let kind = schema.get("type");
    let is_number = |name: &Value| name == "integer" || name == "number";
    let has_number = match kind {
        Some(Value::Array(names)) => names.iter().any(is_number),
        Some(name) => is_number(name),
        None => false,
    };
    if has_number {
        schema.remove("format");
    }
}

/// The prefix of references to definitions.
const REFERENCE: &str = "#/$defs/";

/// The keyword of the definitions.
const DEFINITIONS: &str = "$defs";

/// A definition that is used in only one place, which is outside itself.
fn referred_to_once(schema: &Value) -> Option<String> {
    let mut references = BTreeMap::new();
    count(schema, &mut references);
    let definitions = schema.get(DEFINITIONS)?.as_object()?;
    let once = definitions.iter().find(|(name, definition)| {
        let mut own = BTreeMap::new();
        count(definition, &mut own);
        references.get(name.as_str()) == Some(&1) && !own.contains_key(name.as_str())
    });
    once.map(|(name, _)| name.clone())
}

/// Counts the references to each definition.
fn count<'a>(schema: &'a Value, references: &mut BTreeMap<&'a str, usize>) {
    match schema {
        Value::Object(keywords) => {
            let reference = keywords.get("$ref").and_then(Value::as_str);
            if let Some(name) = reference.and_then(|name| name.strip_prefix(REFERENCE)) {
                *references.entry(name).or_default() += 1;
            }
            keywords.values().for_each(|value| count(value, references));
        }
        Value::Array(values) => values.iter().for_each(|value| count(value, references)),
        _ => {}
    }
}

/// Writes a definition in the place of its reference.
fn put_in_place(schema: &mut Value, name: &str) {
    let definitions = schema.get_mut(DEFINITIONS).and_then(Value::as_object_mut);
    let Some(definition) = definitions.and_then(|all| all.remove(name)) else {
        return;
    };
    replace(schema, &format!("{REFERENCE}{name}"), &definition);
    let definitions = schema.get(DEFINITIONS).and_then(Value::as_object);
    if definitions.is_some_and(Map::is_empty)
        && let Some(keywords) = schema.as_object_mut()
    {
        keywords.remove(DEFINITIONS);
    }
}

/// Replaces references. Keywords beside a reference describe that place, and take precedence over
/// those of the definition.
fn replace(schema: &mut Value, reference: &str, definition: &Value) {
    match schema {
        Value::Object(keywords) => {
            if keywords.get("$ref").is_some_and(|own| own == reference)
                && let Value::Object(definition) = definition
            {
                keywords.remove("$ref");
                for (keyword, value) in definition {
                    keywords
                        .entry(keyword.clone())
                        .or_insert_with(|| value.clone());
                }
            }
            for value in keywords.values_mut() {
                replace(value, reference, definition);
            }
        }
        Value::Array(values) => {
            for value in values {
                replace(value, reference, definition);
            }
        }
        _ => {}
    }
}
