//! The JSON Schema of an answer, for a type.
//!
//! Providers that enforce the format of an answer support only a part of JSON Schema. Their common
//! part is what OpenAI calls strict: objects without additional fields, all of them required, and
//! such an object as the root. If a type needs more, they are not asked to enforce it.

use schemars::generate::SchemaSettings;
use schemars::transform::{Transform, transform_subschemas};
use schemars::{JsonSchema, Schema};
use serde_json::{Map, Value, json};

use crate::model::OutputSchema;

/// The field with the answer, if the answer itself is not an object.
pub(crate) const ANSWER: &str = "answer";

/// The maximum length of a name that providers accept.
const NAME: usize = 64;

/// The keywords that stay in a strict schema.
const KEPT: &[&str] = &[
    "$ref",
    "additionalProperties",
    "anyOf",
    "description",
    "enum",
    "format",
    "items",
    "pattern",
    "properties",
    "required",
    "type",
];

/// The keywords that are removed from a strict schema. Anthropic refuses a request with a bound of
/// a number or of a list.
const LEFT_OUT: &[&str] = &[
    "default",
    "deprecated",
    "examples",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "maxItems",
    "maxLength",
    "maximum",
    "minItems",
    "minLength",
    "minimum",
    "multipleOf",
    "readOnly",
    "title",
    "uniqueItems",
    "writeOnly",
];

/// The formats of strings that a strict schema may have.
const FORMATS: &[&str] = &[
    "date",
    "date-time",
    "duration",
    "email",
    "hostname",
    "ipv4",
    "ipv6",
    "time",
    "uuid",
];

/// The schema of an answer.
#[derive(Debug)]
pub(crate) struct AnswerSchema {
    /// Its JSON Schema.
    pub(crate) schema: Value,
    /// The strict schema for a provider that enforces it, if possible.
    pub(crate) output: Option<OutputSchema>,
    /// True if the value is in a field of an object, [`ANSWER`].
    pub(crate) is_wrapped: bool,
}

impl AnswerSchema {
    /// The schema of a type, as it is read.
    pub(crate) fn of<T: JsonSchema>() -> AnswerSchema {
        let settings = SchemaSettings::draft2020_12().with(|settings| {
            settings.meta_schema = None;
            settings.inline_subschemas = true; // only what contains itself is a reference
        });
        let mut generator = settings.into_generator();
        let root = generator.subschema_for::<T>();
        let mut definitions = generator.take_definitions(true);

        let is_wrapped = !is_plain_object(&root);
        let mut schema = if is_wrapped { wrap(root) } else { root };
        let output = strict(&schema, &definitions).map(|schema| OutputSchema {
            name: name(&T::schema_name()),
            schema,
        });
        add(&mut schema, std::mem::take(&mut definitions));
        AnswerSchema {
            schema: schema.to_value(),
            output,
            is_wrapped,
        }
    }
}

fn is_plain_object(schema: &Schema) -> bool {
    let choice = ["oneOf", "anyOf", "allOf", "$ref"];
    schema.get("type") == Some(&json!("object"))
        && choice.iter().all(|name| schema.get(*name).is_none())
}

fn wrap(schema: Schema) -> Schema {
    let mut properties = Map::new();
    properties.insert(ANSWER.to_owned(), schema.to_value());
    let mut wrapper = Schema::default();
    wrapper.insert("type".to_owned(), json!("object"));
    wrapper.insert("properties".to_owned(), Value::Object(properties));
    wrapper.insert("required".to_owned(), json!([ANSWER]));
    wrapper
}

fn add(schema: &mut Schema, definitions: Map<String, Value>) {
    if !definitions.is_empty() {
        schema.insert("$defs".to_owned(), Value::Object(definitions));
    }
}

/// A name of letters, digits and `_`.
fn name(name: &str) -> String {
    let is_plain = |it: &char| it.is_ascii_alphanumeric();
    let plain = name.chars().map(|it| if is_plain(&it) { it } else { '_' });
    let plain: String = plain.take(NAME).collect();
    if plain.is_empty() {
        return ANSWER.to_owned();
    }
    plain
}

/// The strict schema, if it is equivalent.
fn strict(schema: &Schema, definitions: &Map<String, Value>) -> Option<Value> {
    let mut schema = schema.clone();
    let mut strict = Strict { is_possible: true };
    strict.transform(&mut schema);
    let mut defined = Map::new();
    for (name, definition) in definitions {
        let mut definition = Schema::try_from(definition.clone()).ok()?;
        strict.transform(&mut definition);
        defined.insert(name.clone(), definition.to_value());
    }
    add(&mut schema, defined);
    strict.is_possible.then(|| schema.to_value())
}

/// Makes a schema strict, and records whether that is possible.
struct Strict {
    is_possible: bool,
}

impl Transform for Strict {
    fn transform(&mut self, schema: &mut Schema) {
        let Some(object) = schema.as_object_mut() else {
            self.is_possible = false; // any value, or none
            return;
        };
        if let Some(choices) = object.remove("oneOf") {
            self.is_possible &= object.insert("anyOf".to_owned(), choices).is_none();
        }
        if let Some(value) = object.remove("const") {
            object.insert("enum".to_owned(), json!([value]));
        }
        object.retain(|key, _| !LEFT_OUT.contains(&key.as_str()));
        let is_known_format = |it: &Value| it.as_str().is_some_and(|it| FORMATS.contains(&it));
        if object.get("format").is_some_and(|it| !is_known_format(it)) {
            object.remove("format"); // such as `uint64`
        }
        if object.contains_key("$ref") {
            object.remove("description");
            self.is_possible &= object.len() == 1;
        }
        self.is_possible &= object.keys().all(|key| KEPT.contains(&key.as_str()));
        self.is_possible &= says_what(object);
        let is_object = is_type(object, "object");
        if is_object {
            self.require_all(object);
        }
        transform_subschemas(self, schema);
        if is_object {
            schema.insert("additionalProperties".to_owned(), Value::Bool(false));
        }
    }
}

impl Strict {
    /// Requires all fields of an object. Additional fields are forbidden later.
    fn require_all(&mut self, object: &mut Map<String, Value>) {
        let Some(Value::Object(properties)) = object.get("properties") else {
            self.is_possible = false; // a map
            return;
        };
        let names: Vec<Value> = properties.keys().cloned().map(Value::String).collect();
        object.insert("required".to_owned(), Value::Array(names));
        let further = object.remove("additionalProperties");
        self.is_possible &= matches!(further, None | Some(Value::Bool(false)));
        self.is_possible &= !object.contains_key("anyOf");
    }
}

/// Returns true if a schema restricts its values.
fn says_what(object: &Map<String, Value>) -> bool {
    let has = |key| object.contains_key(key);
    let has_items = !is_type(object, "array") || has("items");
    (has("type") || has("anyOf") || has("enum") || has("$ref")) && has_items
}

fn is_type(object: &Map<String, Value>, name: &str) -> bool {
    match object.get("type") {
        Some(Value::String(it)) => it == name,
        Some(Value::Array(types)) => types.iter().any(|it| it == name),
        _ => false,
    }
}
