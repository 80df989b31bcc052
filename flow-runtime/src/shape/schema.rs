//! Shapes as JSON Schemas.

use serde_json::{Map, Value, json};

use super::{Content, Field, Shape, Variant};

impl Shape {
    /// The shape as a JSON Schema, which allows every value that serde writes, and others. It lists
    /// no field as required, because serde does not say which fields have a default. It does not
    /// know what a `try_from` or a `deserialize_with` refuses. `None` if it would allow everything.
    ///
    /// # Examples
    ///
    /// ```
    /// use flow_runtime::shape::shape_of_type;
    /// use serde::Deserialize;
    /// use serde_json::json;
    ///
    /// #[derive(Deserialize)]
    /// # #[expect(dead_code)]
    /// enum Approval {
    ///     Approved { by: String },
    ///     Refused,
    /// }
    ///
    /// assert_eq!(
    ///     shape_of_type::<Approval>().json_schema().unwrap(),
    ///     json!({
    ///         "oneOf": [
    ///             {
    ///                 "type": "object",
    ///                 "properties": {
    ///                     "Approved": {
    ///                         "type": "object",
    ///                         "properties": { "by": { "type": "string" } },
    ///                     },
    ///                 },
    ///                 "required": ["Approved"],
    ///                 "additionalProperties": false,
    ///             },
    ///             { "const": "Refused" },
    ///         ],
    ///     }),
    /// );
    /// ```
    pub fn json_schema(&self) -> Option<Value> {
        match self {
            Shape::Unknown | Shape::Any => None,
            shape => Some(schema(shape)),
        }
    }
}

fn schema(shape: &Shape) -> Value {
    match shape {
        Shape::Unknown | Shape::Any => json!({}),
        Shape::Unit => json!({ "type": "null" }),
        Shape::Bool => json!({ "type": "boolean" }),
        Shape::Integer { least, greatest } => integer(*least, *greatest),
        Shape::Number => json!({ "type": "number" }),
        Shape::Char => json!({ "type": "string", "minLength": 1, "maxLength": 1 }),
        Shape::Text => json!({ "type": "string" }),
        Shape::Option(inner) => match &**inner {
            Shape::Unknown | Shape::Any => json!({}),
            inner => json!({ "anyOf": [schema(inner), { "type": "null" }] }),
        },
        Shape::Struct(fields) => object(fields),
        Shape::Enum(variants) => {
            let variants: Vec<Value> = variants.iter().map(variant).collect();
            json!({ "oneOf": variants })
        }
        Shape::List(item) => json!({ "type": "array", "items": schema(item) }),
    }
}

/// The schema of an integer. Bounds beyond 64 bits, which JSON does not have here, are left out.
fn integer(least: i128, greatest: i128) -> Value {
    let mut integer = json!({ "type": "integer" });
    if let Ok(least) = i64::try_from(least) {
        integer["minimum"] = least.into();
    }
    if let Ok(greatest) = u64::try_from(greatest) {
        integer["maximum"] = greatest.into();
    }
    integer
}

fn object(fields: &[Field]) -> Value {
    let field = |field: &Field| (field.name.to_owned(), schema(&field.shape));
    let properties: Map<String, Value> = fields.iter().map(field).collect();
    json!({ "type": "object", "properties": properties })
}

/// The schema of a variant in serde's default representation. In another one, such as with a tag,
/// the shape is not that of an enum.
fn variant(Variant { name, content }: &Variant) -> Value {
    let content = match content {
        Content::Unit => return json!({ "const": name }),
        Content::Unknown => json!({}),
        Content::Value(shape) => schema(shape),
        Content::Fields(fields) => object(fields),
    };
    json!({
        "type": "object",
        "properties": { (*name): content },
        "required": [name],
        "additionalProperties": false,
    })
}
