//! Checks values against the JSON Schema of their type: ranges, which serde does not know, and
//! names where serde does not know all of them.
//!
//! For other mistakes, such as a missing value or one of another type, serde says more. A schema
//! may come from anywhere and refer to itself, so its depth and the steps are limited.

use std::collections::{BTreeSet, HashMap};

use flow_spec::did_you_mean;
use flow_spec::document::text_parts;
use regex::{Regex, RegexBuilder};
use serde_json::{Map, Value};

use crate::params::below;

/// The place of a value. Its text is built only if something is refused.
#[derive(Clone, Copy)]
enum At<'a> {
    Root,
    Field(&'a At<'a>, &'a str),
    Item(&'a At<'a>, usize),
}

impl At<'_> {
    fn pointer(self) -> String {
        match self {
            At::Root => String::new(),
            At::Field(around, name) => below(&around.pointer(), name),
            At::Item(around, index) => below(&around.pointer(), &index.to_string()),
        }
    }
}

/// A value that its schema refuses.
#[derive(Debug, PartialEq)]
pub(crate) struct Refused {
    /// The pointer in the value.
    pub(crate) pointer: String,
    pub(crate) message: String,
    pub(crate) help: Option<String>,
    /// True if it differs from the one allowed value, such as the tag of another alternative.
    is_tag: bool,
}

/// The maximum depth to which schemas are followed.
const DEEPEST: usize = 64;

/// The largest number of schemas that are checked for a value.
const MOST_STEPS: usize = 200_000;

/// The largest compiled size of a pattern, in bytes.
const LARGEST_PATTERN: usize = 256 << 10;

/// The refused parts of a value. References to variables and credentials fit everything.
pub(crate) fn refused(schema: &Map<String, Value>, value: &Value) -> Vec<Refused> {
    let mut checker = Checker::new(schema);
    checker.object(schema, value, At::Root, 0);
    checker.found
}

/// Words of a schema that refuse values of the right type.
const LIMITS: [&str; 16] = [
    "const",
    "enum",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "multipleOf",
    "not",
    "pattern",
    "uniqueItems",
];

/// Returns `true` if a schema may refuse values of the right type.
pub(crate) fn limits(schema: &Map<String, Value>) -> bool {
    fn within(value: &Value) -> bool {
        match value {
            Value::Object(schema) => limits(schema),
            Value::Array(schemas) => schemas.iter().any(within),
            value => *value == Value::Bool(false),
        }
    }
    schema
        .iter()
        .any(|(word, value)| LIMITS.contains(&word.as_str()) || within(value))
}

struct Checker<'s> {
    root: &'s Map<String, Value>,
    left: usize,
    found: Vec<Refused>,
    /// The compiled patterns, by text. `None` for a pattern that is invalid.
    patterns: HashMap<&'s str, Option<Regex>>,
}

impl<'s> Checker<'s> {
    fn new(root: &'s Map<String, Value>) -> Self {
        Checker {
            root,
            left: MOST_STEPS,
            found: Vec::new(),
            patterns: HashMap::new(),
        }
    }

    fn refuse(&mut self, at: At<'_>, message: String, help: Option<String>) {
        self.found.push(Refused {
            pointer: at.pointer(),
            message,
            help,
            is_tag: false,
        });
    }

    /// Checks a value against a schema.
    fn value(&mut self, schema: &'s Value, value: &Value, at: At<'_>, depth: usize) {
        match schema {
            Value::Object(schema) => self.object(schema, value, at, depth),
            Value::Bool(false) => {
                self.refuse(at, "no value is allowed here".to_owned(), None);
            }
            _ => {}
        }
    }

    fn object(&mut self, schema: &'s Map<String, Value>, value: &Value, at: At<'_>, depth: usize) {
        if depth == DEEPEST || self.left == 0 || is_reference(value) {
            return;
        }
        self.left -= 1;
        self.one_of(schema, value, at);
        match value {
            Value::Number(_) => self.number(schema, value, at),
            Value::String(text) => self.text(schema, text, at),
            Value::Array(items) => self.list(schema, items, at, depth),
            Value::Object(fields) => self.fields(schema, fields, at, depth),
            Value::Null | Value::Bool(_) => {}
        }
        if let Some(other) = self.referred(schema) {
            self.object(other, value, at, depth + 1);
        }
        for part in parts(schema, "allOf") {
            self.value(part, value, at, depth + 1);
        }
        for alternatives in ["anyOf", "oneOf"] {
            self.alternatives(schema, alternatives, value, at, depth);
        }
    }

    /// Reports what the best alternative refuses. An alternative of another type does not fit, and
    /// one with another tag fits less than any with this tag.
    fn alternatives(
        &mut self,
        schema: &'s Map<String, Value>,
        keyword: &str,
        value: &Value,
        at: At<'_>,
        depth: usize,
    ) {
        let before = std::mem::take(&mut self.found);
        let mut best: Option<(_, Vec<Refused>)> = None;
        for part in parts(schema, keyword) {
            if !self.has_type(part, value, depth + 1) {
                continue;
            }
            self.value(part, value, at, depth + 1);
            self.names_beside_tag(part, value, at, depth + 1);
            let found = std::mem::take(&mut self.found);
            let is_other = |refused: &Refused| {
                let around = refused.pointer.rsplit_once('/');
                refused.is_tag && around.is_some_and(|(around, _)| around == at.pointer())
            };
            let rank = (found.iter().any(is_other), found.len());
            if best.as_ref().is_none_or(|(least, _)| rank < *least) {
                best = Some((rank, found));
            }
        }
        self.found = before;
        self.found
            .extend(best.into_iter().flat_map(|(_, found)| found));
    }

    /// Reports fields that a tagged alternative does not have; serde ignores them silently.
    fn names_beside_tag(&mut self, part: &'s Value, value: &Value, at: At<'_>, depth: usize) {
        let (Value::Object(part), Value::Object(fields)) = (part, value) else {
            return;
        };
        let part = self.referred(part).unwrap_or(part);
        let properties = part.get("properties").and_then(Value::as_object);
        let has_tag =
            properties.is_some_and(|all| all.values().any(|it| it.get("const").is_some()));
        let mut names = BTreeSet::new();
        if !has_tag || !self.add_names(part, &mut names, depth) {
            return;
        }
        for name in fields.keys().filter(|name| !names.contains(*name)) {
            let help = did_you_mean(name, names.iter().map(String::as_str));
            let help = help.or_else(|| Some("remove it".to_owned()));
            self.refuse(
                At::Field(&at, name),
                format!("there is no field `{name}` here"),
                help,
            );
        }
    }

    fn one_of(&mut self, schema: &Map<String, Value>, value: &Value, at: At<'_>) {
        let allowed = match (schema.get("const"), schema.get("enum")) {
            (Some(only), _) => std::slice::from_ref(only),
            (None, Some(Value::Array(all))) => all.as_slice(),
            _ => return,
        };
        if allowed.iter().any(|one| same(one, value)) {
            return;
        }
        let shown: Vec<String> = allowed.iter().take(8).map(Value::to_string).collect();
        let message = format!("expected {}, found {}", shown.join(" or "), brief(value));
        let names = allowed.iter().filter_map(Value::as_str);
        let near = value
            .as_str()
            .and_then(|text| flow_spec::closest(text, names));
        let help = near.map(|near| format!("did you mean \"{near}\"?"));
        self.refuse(at, message, help);
        if let Some(refused) = self.found.last_mut() {
            refused.is_tag = schema.contains_key("const");
        }
    }

    fn number(&mut self, schema: &Map<String, Value>, value: &Value, at: At<'_>) {
        let limit = |keyword| schema.get(keyword).filter(|limit| limit.is_number());
        let limits = [
            ("minimum", "at least", -1, true),
            ("maximum", "at most", 1, true),
            ("exclusiveMinimum", "more than", -1, false),
            ("exclusiveMaximum", "less than", 1, false),
        ];
        for (keyword, words, side, is_inside) in limits {
            let Some(limit) = limit(keyword) else {
                continue;
            };
            let order = order(value, limit);
            if order == side || (order == 0 && !is_inside) {
                self.refuse(at, format!("expected {words} {limit}, found {value}"), None);
            }
        }
        if let (Some(step), Some(number)) =
            (limit("multipleOf").and_then(Value::as_f64), value.as_f64())
            && step > 0.0
        {
            let times = number / step;
            if (times - times.round()).abs() > 1e-9 * times.abs().max(1.0) {
                self.refuse(
                    at,
                    format!("expected a multiple of {step}, found {value}"),
                    None,
                );
            }
        }
    }

    fn text(&mut self, schema: &'s Map<String, Value>, text: &str, at: At<'_>) {
        let length = text.chars().count() as u64;
        self.count(schema, ("minLength", "maxLength"), length, "characters", at);
        let Some(pattern) = schema.get("pattern").and_then(Value::as_str) else {
            return;
        };
        // JavaScript has patterns that are invalid here, such as lookahead.
        let read = || {
            let mut builder = RegexBuilder::new(pattern);
            builder.size_limit(LARGEST_PATTERN).build().ok()
        };
        let regex = self.patterns.entry(pattern).or_insert_with(read);
        if regex.as_ref().is_some_and(|regex| !regex.is_match(text)) {
            let found = brief(&Value::from(text));
            self.refuse(
                at,
                format!("expected a text like `{pattern}`, found {found}"),
                None,
            );
        }
    }

    fn count(
        &mut self,
        schema: &Map<String, Value>,
        (least, most): (&str, &str),
        count: u64,
        what: &str,
        at: At<'_>,
    ) {
        let limit = |keyword| schema.get(keyword).and_then(Value::as_u64);
        if let Some(least) = limit(least).filter(|least| count < *least) {
            let message = format!("expected at least {least} {what}, found {count}");
            self.refuse(at, message, None);
        }
        if let Some(most) = limit(most).filter(|most| count > *most) {
            let message = format!("expected at most {most} {what}, found {count}");
            self.refuse(at, message, None);
        }
    }

    fn list(&mut self, schema: &'s Map<String, Value>, items: &[Value], at: At<'_>, depth: usize) {
        self.count(
            schema,
            ("minItems", "maxItems"),
            items.len() as u64,
            "items",
            at,
        );
        if schema.get("uniqueItems") == Some(&Value::Bool(true)) {
            let mut seen = BTreeSet::new();
            if let Some(twice) = items.iter().find(|item| !seen.insert(item.to_string())) {
                self.refuse(at, format!("{} stands twice in it", brief(twice)), None);
            }
        }
        let first = parts(schema, "prefixItems");
        let rest = schema.get("items");
        for (index, item) in items.iter().enumerate() {
            if let Some(schema) = first.get(index).or(rest) {
                self.value(schema, item, At::Item(&at, index), depth + 1);
            }
        }
    }

    fn fields(
        &mut self,
        schema: &'s Map<String, Value>,
        fields: &Map<String, Value>,
        at: At<'_>,
        depth: usize,
    ) {
        let count = fields.len() as u64;
        self.count(
            schema,
            ("minProperties", "maxProperties"),
            count,
            "fields",
            at,
        );
        let known = schema.get("properties").and_then(Value::as_object);
        let others = schema.get("additionalProperties");
        for (name, value) in fields {
            let known = known.and_then(|known| known.get(name));
            if let Some(schema) = known.or(others.filter(|others| others.is_object())) {
                self.value(schema, value, At::Field(&at, name), depth + 1);
            }
        }
    }

    /// The part of this schema to which it refers.
    fn referred(&self, schema: &Map<String, Value>) -> Option<&'s Map<String, Value>> {
        let reference = schema.get("$ref")?.as_str()?.strip_prefix('#')?;
        let mut names = reference.split('/');
        if names.next() != Some("") {
            return None;
        }
        let mut at = self.root;
        for name in names {
            at = at
                .get(&name.replace("~1", "/").replace("~0", "~"))?
                .as_object()?;
        }
        Some(at)
    }

    /// Returns `true` unless the schema names types and the value has none of them.
    fn has_type(&self, schema: &'s Value, value: &Value, depth: usize) -> bool {
        match schema {
            Value::Object(schema) => self.has_types(schema, value, depth),
            other => *other != false,
        }
    }

    fn has_types(&self, schema: &'s Map<String, Value>, value: &Value, depth: usize) -> bool {
        if let Some(other) = self.referred(schema)
            && depth < DEEPEST
            && !self.has_types(other, value, depth + 1)
        {
            return false;
        }
        match schema.get("type") {
            Some(Value::String(name)) => is_of(value, name),
            Some(Value::Array(names)) => {
                let mut names = names.iter().filter_map(Value::as_str);
                names.any(|name| is_of(value, name))
            }
            _ => true,
        }
    }
}

/// The names of the settings in a schema. `None` if any names are allowed.
pub(crate) fn names(schema: &Map<String, Value>) -> Option<BTreeSet<String>> {
    let mut checker = Checker::new(schema);
    let mut names = BTreeSet::new();
    let is_closed = checker.add_names(schema, &mut names, 0);
    (is_closed && !names.is_empty()).then_some(names)
}

impl<'s> Checker<'s> {
    /// Adds the names of a schema's fields. Returns `false` if other names are allowed.
    fn add_names(
        &mut self,
        schema: &'s Map<String, Value>,
        names: &mut BTreeSet<String>,
        depth: usize,
    ) -> bool {
        if depth == DEEPEST || self.left == 0 {
            return false;
        }
        self.left -= 1;
        let open = ["additionalProperties", "unevaluatedProperties"];
        let is_open = |keyword: &&str| schema.get(*keyword).is_some_and(|value| *value != false);
        if open.iter().any(is_open) || schema.contains_key("patternProperties") {
            return false;
        }
        if let Some(Value::Object(properties)) = schema.get("properties") {
            names.extend(properties.keys().cloned());
        }
        let combined = ["allOf", "anyOf", "oneOf"].map(|keyword| parts(schema, keyword));
        let combined = combined.into_iter().flatten();
        let inner = combined.map(Value::as_object);
        let referred = schema.get("$ref").map(|_| self.referred(schema));
        let inner: Vec<_> = inner.chain(referred).collect();
        inner
            .into_iter()
            .all(|inner| inner.is_some_and(|inner| self.add_names(inner, names, depth + 1)))
    }
}

/// The problem of a name that the settings of a node do not have.
pub(crate) fn no_setting<'a>(
    node: &str,
    name: &str,
    names: impl IntoIterator<Item = &'a str> + Clone,
) -> (String, Option<String>) {
    let message = format!("`{node}` has no setting `{name}`");
    let help = did_you_mean(name, names);
    (message, help.or_else(|| Some("remove it".to_owned())))
}

fn parts<'s>(schema: &'s Map<String, Value>, keyword: &str) -> &'s [Value] {
    let parts = schema.get(keyword).and_then(Value::as_array);
    parts.map_or(&[], Vec::as_slice)
}

/// Returns `true` for a text that stands for a value from elsewhere.
fn is_reference(value: &Value) -> bool {
    use flow_spec::document::TextPart;
    let Value::String(text) = value else {
        return false;
    };
    !matches!(text_parts(text).as_deref(), Ok([] | [TextPart::Literal(_)]))
}

fn is_of(value: &Value, name: &str) -> bool {
    match name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64() || value.as_f64().is_some_and(is_whole),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => true,
    }
}

fn is_whole(number: f64) -> bool {
    number.fract() == 0.0
}

/// Returns `true` if two values are equal; `1` equals `1.0`.
fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(_), Value::Number(_)) => order(one, other) == 0,
        _ => one == other,
    }
}

/// Compares two numbers: negative if the first one is smaller.
fn order(one: &Value, other: &Value) -> i8 {
    let whole = |value: &Value| match (value.as_i64(), value.as_u64()) {
        (Some(number), _) => Some(i128::from(number)),
        (None, Some(number)) => Some(i128::from(number)),
        (None, None) => None,
    };
    let order = match (whole(one), whole(other)) {
        (Some(one), Some(other)) => Some(one.cmp(&other)),
        _ => {
            let numbers = one.as_f64().zip(other.as_f64());
            numbers.and_then(|(one, other)| one.partial_cmp(&other))
        }
    };
    order.map_or(0, |order| order as i8)
}

/// A value in a message.
fn brief(value: &Value) -> String {
    const LONGEST: usize = 60;
    match value {
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
        value => {
            let mut text = value.to_string();
            if text.len() > LONGEST {
                text.truncate(text.floor_char_boundary(LONGEST));
                text.push('…');
            }
            text
        }
    }
}

#[cfg(test)]
#[path = "schema_tests.rs"]
mod tests;
