//! The schemas of answers, as strict as providers require.

use serde_json::{Value, json};

/// Keys of a schema whose value is a schema, or a list of schemas.
const SCHEMAS: [&str; 6] = [
    "items",
    "additionalProperties",
    "anyOf",
    "oneOf",
    "allOf",
    "prefixItems",
];

/// Keys of a schema whose value has schemas by their names.
const NAMED: [&str; 3] = ["properties", "$defs", "definitions"];

/// Returns the schema with objects that allow no further fields.
pub(super) fn closed(schema: &Value) -> Value {
    let mut schema = schema.clone();
    make_strict(&mut schema, false);
    schema
}

/// Returns the schema with objects that require all their fields and allow no further ones.
pub(super) fn strict(schema: &Value) -> Value {
    let mut schema = schema.clone();
    make_strict(&mut schema, true);
    schema
}

fn make_strict(schema: &mut Value, requires_all: bool) {
    if let Value::Array(schemas) = schema {
        schemas
            .iter_mut()
            .for_each(|it| make_strict(it, requires_all));
        return;
    }
    let Value::Object(fields) = schema else {
        return;
    };
    for (key, value) in fields.iter_mut() {
        if SCHEMAS.contains(&key.as_str()) {
            make_strict(value, requires_all);
        } else if NAMED.contains(&key.as_str())
            && let Value::Object(schemas) = value
        {
            schemas
                .values_mut()
                .for_each(|it| make_strict(it, requires_all));
        }
    }
    let properties = fields.get("properties").and_then(Value::as_object);
    if properties.is_none() && fields.get("type") != Some(&json!("object")) {
        return;
    }
    let names: Option<Value> = properties.map(|it| it.keys().map(String::as_str).collect());
    if let Some(names) = names.filter(|_| requires_all) {
        fields.insert("required".to_owned(), names);
    }
    let is_closed = fields.entry("additionalProperties");
    is_closed.or_insert(Value::Bool(false));
}
