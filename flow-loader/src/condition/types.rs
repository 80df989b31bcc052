//! The types of CEL, as far as they are known for a key.

use std::any::TypeId;

use flow_spec::document::Property;
use serde_json::Value;

use crate::value::ValueType;

/// The type of an expression.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Type {
    /// Not known.
    Any,
    Null,
    Bool,
    Text,
    Int,
    /// Only literals with a `u` have this type: see `cel_value`.
    UInt,
    Double,
    /// An `Int` or a `Double`.
    Number,
    List(Box<Type>),
    /// An object with any fields, with the types of its names and values. In a map literal of a
    /// condition, names need not be texts.
    Map(Box<Type>, Box<Type>),
    /// An object with these fields and no others.
    Record(Vec<(String, Type)>),
}

/// The kinds of values that can be compared with each other.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Kind {
    Null,
    Bool,
    Text,
    Number,
    List,
    Object,
}

impl Type {
    /// The CEL type of a Rust type. An `Option` counts as its value; a missing one is noticed at
    /// run time.
    pub(super) fn of(ty: &ValueType) -> Type {
        if let Some(option) = ty.option {
            return Type::of(option.inner);
        }
        if let Some(scalar) = scalar((ty.id)()) {
            return scalar;
        }
        let schema = ty.schema.and_then(|schema| schema());
        match (ty.items, schema) {
            (_, Some(schema)) => of_schema(&schema),
            (Some(items), None) => {
                let item = scalar((items.id)()).unwrap_or(Type::Any);
                Type::List(Box::new(item))
            }
            (None, None) => Type::Any,
        }
    }

    /// The kind with which it can be compared. `None` if that is not known.
    pub(super) fn kind(&self) -> Option<Kind> {
        match self {
            Type::Any => None,
            Type::Null => Some(Kind::Null),
            Type::Bool => Some(Kind::Bool),
            Type::Text => Some(Kind::Text),
            Type::Int | Type::UInt | Type::Double | Type::Number => Some(Kind::Number),
            Type::List(_) => Some(Kind::List),
            Type::Map(..) | Type::Record(_) => Some(Kind::Object),
        }
    }

    /// The type of a value that has either type.
    pub(super) fn or(self, other: Type) -> Type {
        if self == other { self } else { Type::Any }
    }
}

impl Kind {
    pub(super) fn words(self) -> &'static str {
        match self {
            Kind::Null => "null",
            Kind::Bool => "true or false",
            Kind::Text => "text",
            Kind::Number => "a number",
            Kind::List => "a list",
            Kind::Object => "an object",
        }
    }
}

/// The type of a Rust scalar, which serde writes as the same scalar.
fn scalar(id: TypeId) -> Option<Type> {
    macro_rules! known {
        ($($cel:ident: $($ty:ty)+;)*) => {$(
            if [$(TypeId::of::<$ty>()),+].contains(&id) {
                return Some(Type::$cel);
            }
        )*};
    }
    known! {
        Bool: bool;
        Text: String char;
        Int: u8 u16 u32 u64 usize i8 i16 i32 i64 isize;
        Double: f32 f64;
    }
    None
}

/// The type of the values that a JSON Schema allows.
fn of_schema(schema: &Property) -> Type {
    let alternatives = ["anyOf", "oneOf", "allOf", "$ref", "not", "if"];
    if alternatives.iter().any(|word| schema.contains_key(*word)) {
        return Type::Any;
    }
    match named_type(schema) {
        Some("boolean") => Type::Bool,
        Some("string") => Type::Text,
        Some("integer") => Type::Int,
        Some("number") => Type::Number,
        Some("array") => Type::List(Box::new(of_part(schema.get("items")))),
        Some("object") => record(schema),
        _ => Type::Any,
    }
}

/// The type in a schema. For `null` and another type, that type.
fn named_type(schema: &Property) -> Option<&str> {
    match schema.get("type")? {
        Value::String(name) => Some(name),
        Value::Array(names) => {
            let mut names = names.iter().filter_map(Value::as_str);
            let first = names.find(|name| *name != "null")?;
            names.all(|name| name == "null").then_some(first)
        }
        _ => None,
    }
}

fn record(schema: &Property) -> Type {
    let open = [
        "additionalProperties",
        "patternProperties",
        "unevaluatedProperties",
    ];
    let is_open = |word: &&str| schema.get(*word).is_some_and(|value| *value != false);
    match schema.get("properties") {
        Some(Value::Object(fields)) if !open.iter().any(is_open) => {
            let fields = fields.iter();
            let fields = fields.map(|(name, schema)| (name.clone(), of_part(Some(schema))));
            Type::Record(fields.collect())
        }
        _ => Type::Map(Box::new(Type::Text), Box::new(Type::Any)),
    }
}

fn of_part(schema: Option<&Value>) -> Type {
    match schema {
        Some(Value::Object(schema)) => of_schema(schema),
        _ => Type::Any,
    }
}
