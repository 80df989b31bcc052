//! The keywords of JSON Schema in the schema of a value.
//!
//! A schema may have custom keywords, so an unknown one is refused only if it is probably misspelt.

use serde_json::{Map, Value};

use crate::diagnostic::Code;
use crate::document::problem::{Problem, Problems, inside};
use crate::suggest::{closest, did_you_mean_text};

use crate::document::__private::wrong;
use crate::document::Schema;

/// The form of a keyword's value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Of {
    /// Anything, or a value that is checked elsewhere.
    Any,
    Number,
    /// A number that is above zero.
    Positive,
    Count,
    Flag,
    Text,
    /// The name of a type, or several.
    Type,
    RustType,
    List,
    /// A schema, or `true` or `false`.
    Schema,
    Schemas,
    NamedSchemas,
}

const KEYWORDS: [(&str, Of); 60] = [
    ("$anchor", Of::Text),
    ("$comment", Of::Text),
    ("$defs", Of::NamedSchemas),
    ("$id", Of::Text),
    ("$ref", Of::Text),
    ("$schema", Of::Text),
    ("add", Of::Flag),
    ("additionalProperties", Of::Schema),
    ("allOf", Of::Schemas),
    ("anyOf", Of::Schemas),
    ("const", Of::Any),
    ("contains", Of::Schema),
    ("contentEncoding", Of::Text),
    ("contentMediaType", Of::Text),
    ("default", Of::Any),
    ("defaultOmitted", Of::Flag),
    ("definitions", Of::NamedSchemas),
    ("dependentRequired", Of::Any),
    ("dependentSchemas", Of::NamedSchemas),
    ("deprecated", Of::Flag),
    ("description", Of::Text),
    ("else", Of::Schema),
    ("enum", Of::List),
    ("examples", Of::List),
    ("example", Of::Any),
    ("exclusiveMaximum", Of::Number),
    ("exclusiveMinimum", Of::Number),
    ("format", Of::Text),
    ("if", Of::Schema),
    ("items", Of::Schema),
    ("maxContains", Of::Count),
    ("maxItems", Of::Count),
    ("maxLength", Of::Count),
    ("maxProperties", Of::Count),
    ("maximum", Of::Number),
    ("minContains", Of::Count),
    ("minItems", Of::Count),
    ("minLength", Of::Count),
    ("minProperties", Of::Count),
    ("minimum", Of::Number),
    ("multipleOf", Of::Positive),
    ("not", Of::Schema),
    ("nullable", Of::Flag),
    ("oneOf", Of::Schemas),
    ("pattern", Of::Text),
    ("patternProperties", Of::NamedSchemas),
    ("prefixItems", Of::Schemas),
    ("properties", Of::NamedSchemas),
    ("propertyNames", Of::Schema),
    ("readOnly", Of::Flag),
    ("required", Of::List),
    ("rustType", Of::RustType),
    ("then", Of::Schema),
    ("title", Of::Text),
    ("type", Of::Type),
    ("unevaluatedItems", Of::Schema),
    ("unevaluatedProperties", Of::Schema),
    ("uniqueItems", Of::Flag),
    ("writeOnly", Of::Flag),
    ("discriminator", Of::Any),
];

/// The maximum nesting of a type of Rust.
const DEEPEST_TYPE: usize = 16;

/// The maximum length of a type of Rust, in bytes.
const LONGEST_TYPE: usize = 1000;

const TYPES: [&str; 7] = [
    "array", "boolean", "integer", "null", "number", "object", "string",
];

/// Checks the schemas of the values that a flow or a node reads or writes.
pub(super) fn check(values: &Schema, pointer: &str, problems: &mut Problems) {
    check_keywords(&values.keywords, pointer, problems);
    for (name, property) in &values.properties {
        if let Value::Object(property) = property {
            let pointer = inside(&inside(pointer, "properties"), name);
            check_keywords(property, &pointer, problems);
        }
    }
}

/// Checks the keywords of a schema, and those of the schemas in it.
fn check_keywords(schema: &Map<String, Value>, pointer: &str, problems: &mut Problems) {
    for (name, value) in schema {
        if problems.is_full() {
            break;
        }
        let pointer = inside(pointer, name);
        match KEYWORDS.iter().find(|(keyword, _)| keyword == name) {
            Some((_, Of::RustType)) => check_rust_type(value, &pointer, problems),
            Some((_, of)) => check_value(name, *of, value, &pointer, problems),
            None => {
                let free = KEYWORDS.iter().map(|(keyword, _)| *keyword);
                let free = free.filter(|keyword| !schema.contains_key(*keyword));
                if let Some(near) = closest(name, free) {
                    let message = format!("there is no keyword `{name}` of a schema");
                    let problem = Problem::new(Code::Document, pointer, message).of_name();
                    problems.push(problem.help(format!("did you mean `{near}`?")));
                }
            }
        }
    }
}

fn check_value(name: &str, of: Of, value: &Value, pointer: &str, problems: &mut Problems) {
    let expected = match of {
        Of::Any | Of::RustType => None,
        Of::Number => (!value.is_number()).then_some("a number"),
        Of::Positive => {
            let is_positive = value.as_f64().is_some_and(|number| number > 0.0);
            (!is_positive).then_some("a number above zero")
        }
        Of::Count => (!value.is_u64()).then_some("a count"),
        Of::Flag => (!value.is_boolean()).then_some("true or false"),
        Of::Text => (!value.is_string()).then_some("a string"),
        Of::List => (!value.is_array()).then_some("a list"),
        Of::Type => return check_type(value, pointer, problems),
        Of::Schema => {
            check_part(value, pointer, problems);
            None
        }
        Of::Schemas => {
            for (index, part) in value.as_array().into_iter().flatten().enumerate() {
                check_part(part, &inside(pointer, index), problems);
            }
            (!value.is_array()).then_some("a list of schemas")
        }
        Of::NamedSchemas => {
            for (name, part) in value.as_object().into_iter().flatten() {
                check_part(part, &inside(pointer, name), problems);
            }
            (!value.is_object()).then_some("an object of schemas")
        }
    };
    if let Some(expected) = expected {
        problems.push(wrong(pointer, &format!("`{name}`"), expected, value));
    }
}

fn check_part(value: &Value, pointer: &str, problems: &mut Problems) {
    match value {
        Value::Object(schema) => check_keywords(schema, pointer, problems),
        Value::Bool(_) => {}
        _ => problems.push(wrong(pointer, "this", "a schema", value)),
    }
}

/// Refuses types of Rust that nobody is likely to have written: some passes would take long for
/// them.
fn check_rust_type(value: &Value, pointer: &str, problems: &mut Problems) {
    let Some(text) = value.as_str() else {
        problems.push(wrong(pointer, "`rustType`", "a string", value));
        return;
    };
    let mut depth = 0_usize;
    let deepest = text.chars().map(|letter| {
        match letter {
            '<' | '(' | '[' => depth += 1,
            '>' | ')' | ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth
    });
    let message = if deepest.max().unwrap_or_default() > DEEPEST_TYPE {
        format!("this type nests deeper than {DEEPEST_TYPE} levels")
    } else if text.len() > LONGEST_TYPE {
        format!("this type has more than {LONGEST_TYPE} bytes")
    } else {
        return;
    };
    let help = "give the type a name of its own in the program, and write that";
    problems.push(Problem::new(Code::Malformed, pointer, message).help(help));
}

fn check_type(value: &Value, pointer: &str, problems: &mut Problems) {
    let names: Vec<&Value> = match value {
        Value::Array(names) => names.iter().collect(),
        name => vec![name],
    };
    for name in names {
        match name.as_str() {
            Some(name) if TYPES.contains(&name) => {}
            Some(name) => {
                let message = format!("JSON Schema has no type \"{name}\"");
                let mut problem = Problem::new(Code::Document, pointer, message);
                problem.help = did_you_mean_text(name, TYPES);
                problems.push(problem);
            }
            None => problems.push(wrong(pointer, "`type`", "the name of a type", name)),
        }
    }
}
