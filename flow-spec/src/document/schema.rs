//! Values that are read or written, as a JSON Schema object.

use std::collections::HashSet;

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Map, Value, json};

/// The keyword for the value of an input that is left out.
pub const DEFAULT: &str = "default";

/// The keyword for an input that may be left out because the program has a default, which is not in
/// the document.
pub const DEFAULT_OMITTED: &str = "defaultOmitted";

/// The keyword for a value that a node adds to its key, instead of replacing the key's value.
pub const ADD: &str = "add";

/// The schema of one value, with the Rust type as `rustType`.
pub type Property = Map<String, Value>;

/// Named values: a JSON Schema of the type `object`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Schema {
    /// The schema of each value by name, in the order declared.
    pub properties: Map<String, Value>,
    /// The names of the values that are always present.
    pub required: Vec<String>,
    /// Other keywords of JSON Schema, which are ignored and kept.
    pub keywords: Map<String, Value>,
}

impl Schema {
    /// Returns `true` if it is empty.
    pub fn is_empty(&self) -> bool {
        self.properties.is_empty() && self.required.is_empty() && self.keywords.is_empty()
    }

    /// Adds a value, unless there is one with the same name.
    pub fn insert(&mut self, name: &str, property: Property, required: bool) {
        if self.properties.contains_key(name) {
            return;
        }
        self.properties.insert(name.to_owned(), property.into());
        if required {
            self.required.push(name.to_owned());
        }
    }

    /// Returns `true` if the value with this name is always present.
    pub fn requires(&self, name: &str) -> bool {
        self.required.iter().any(|required| required == name)
    }

    /// Returns the Rust type of the value with this name, or `None` if it is not known.
    pub fn rust_type(&self, name: &str) -> Option<&str> {
        self.properties.get(name)?.get("rustType")?.as_str()
    }

    /// Returns the value of an input of a flow that is left out: the keyword `default` of its
    /// schema. `None` if it has no default.
    pub fn default_of(&self, name: &str) -> Option<&Value> {
        self.properties.get(name)?.get(DEFAULT)
    }

    /// Returns `true` if the value with this name has a default that only the program knows: the
    /// keyword `defaultOmitted` of its schema.
    pub fn omits_default_of(&self, name: &str) -> bool {
        let property = self.properties.get(name);
        let omitted = property.and_then(|property| property.get(DEFAULT_OMITTED));
        omitted == Some(&Value::Bool(true)) && self.default_of(name).is_none()
    }

    /// Returns `true` if the value with this name is added to its key: the keyword `add` of its
    /// schema, at what a node writes.
    pub fn adds(&self, name: &str) -> bool {
        let adds = self
            .properties
            .get(name)
            .and_then(|property| property.get(ADD));
        adds == Some(&Value::Bool(true))
    }

    /// Returns the names, each with its Rust type if known, and `true` if it is always present.
    pub fn values(&self) -> impl Iterator<Item = (&str, Option<&str>, bool)> {
        let required: HashSet<&str> = self.required.iter().map(String::as_str).collect();
        self.properties.keys().map(move |name| {
            let name = name.as_str();
            (name, self.rust_type(name), required.contains(name))
        })
    }
}

impl Serialize for Schema {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("type", "object")?;
        map.serialize_entry("properties", &self.properties)?;
        if !self.required.is_empty() {
            map.serialize_entry("required", &self.required)?;
        }
        for (keyword, value) in &self.keywords {
            map.serialize_entry(keyword, value)?;
        }
        map.end()
    }
}

/// Returns the schema of a value of this Rust type, as far as its spelling shows, with the doc
/// comment if there is one.
///
/// # Examples
///
/// ```
/// use flow_spec::property;
///
/// let names = property("Vec<String>", None);
/// assert_eq!(names["rustType"], "Vec<String>");
/// assert_eq!(names["items"]["type"], "string");
/// assert!(!property("Claim", None).contains_key("type"));
/// ```
pub fn property(rust_type: &str, description: Option<&str>) -> Property {
    let mut property = spelled(rust_type);
    if let Some(description) = description {
        property.insert("description".to_owned(), description.into());
    }
    if !rust_type.is_empty() {
        property.insert("rustType".to_owned(), rust_type.into());
    }
    property
}

/// Returns a property with the schema of its type instead of the schema from the type's spelling.
/// Keeps the description, the Rust type and the default of the property.
///
/// # Examples
///
/// ```
/// use flow_spec::document::{property, with_schema};
/// use serde_json::json;
///
/// let schema = json!({ "type": "object", "description": "What somebody asks for." });
/// let claim = with_schema(&property("Claim", None), schema.as_object().unwrap());
/// assert_eq!(claim["type"], "object");
/// assert_eq!(claim["rustType"], "Claim");
/// ```
pub fn with_schema(property: &Property, schema: &Property) -> Property {
    let mut merged = schema.clone();
    // A default of the type does not apply to the value.
    merged.remove(DEFAULT);
    for kept in ["description", "rustType", DEFAULT, DEFAULT_OMITTED, ADD] {
        if let Some(value) = property.get(kept) {
            merged.insert(kept.to_owned(), value.clone());
        }
    }
    if schema.iter().any(|(name, value)| refers(name, value)) {
        // Its references point into it, not into the whole document.
        let text = |object: &Property, field| object.get(field)?.as_str().map(str::to_owned);
        let name = text(property, "rustType").or_else(|| text(schema, "title"));
        let id = format!("rust:{}", name.unwrap_or_default());
        merged.insert("$id".to_owned(), id.into());
    }
    merged
}

/// Returns `true` if a keyword of a schema is a reference or contains one.
fn refers(name: &str, value: &Value) -> bool {
    match value {
        Value::Object(inner) => inner.iter().any(|(name, value)| refers(name, value)),
        Value::Array(items) => items.iter().any(|item| refers("", item)),
        _ => name == "$ref",
    }
}

/// The schema that follows from the spelling of a type of std.
fn spelled(rust_type: &str) -> Property {
    let simple = match rust_type {
        "String" | "str" | "char" => json!({ "type": "string" }),
        "bool" => json!({ "type": "boolean" }),
        "f32" | "f64" => json!({ "type": "number" }),
        "i8" | "i16" | "i32" | "i64" | "i128" | "isize" => json!({ "type": "integer" }),
        "u8" | "u16" | "u32" | "u64" | "u128" | "usize" => {
            json!({ "type": "integer", "minimum": 0 })
        }
        _ => match list_item(rust_type) {
            Some(item) => json!({ "type": "array", "items": spelled(item.trim()) }),
            None => json!({}),
        },
    };
    match simple {
        Value::Object(property) => property,
        _ => Property::new(),
    }
}

/// The type of the items of a list.
fn list_item(rust_type: &str) -> Option<&str> {
    let vec = rust_type
        .strip_prefix("Vec<")
        .and_then(|rest| rest.strip_suffix('>'));
    vec.or_else(|| rust_type.strip_prefix('[')?.strip_suffix(']'))
        .filter(|item| !item.contains([',', ';']))
}
