//! Values that nodes add to others, as JSON.
//!
//! The program adds by types, and a journal has none. So this looks at how the structure spells
//! them, and knows the types of the standard library only.

use flow_spec::{FlowDocument, NodeDocument};
use serde_json::{Map, Number, Value, json};

use super::layout::{key_of_input, key_of_output};

/// A value that a node adds to a key.
#[derive(Debug, Clone)]
pub(super) struct Added {
    pub(super) key: String,
    /// `None` if the journal does not show it.
    value: Option<Value>,
    /// The type of the key, as its author wrote it.
    to: Option<String>,
    /// The type of the value, as its author wrote it.
    more: Option<String>,
    /// True for the results of a loop, which are added one after the other.
    many: bool,
}

impl Added {
    /// The value that a node adds under one of its names.
    pub(super) fn new(
        flow: &FlowDocument,
        node: &NodeDocument,
        name: &str,
        value: Option<Value>,
    ) -> Self {
        let key = key_of_output(node, name);
        let body = node.body().and_then(|body| flow.node(body));
        let more = match body {
            Some(body) => {
                let mut names = body.outputs.properties.keys();
                names.find_map(|name| body.outputs.rust_type(name))
            }
            None => node.outputs.rust_type(name),
        };
        Added {
            key: key.to_owned(),
            value,
            to: type_of(flow, key).map(str::to_owned),
            more: more.map(str::to_owned),
            many: body.is_some(),
        }
    }

    /// The key's value with the added one. `None` if it cannot be told.
    pub(super) fn to(&self, base: Option<&Option<Value>>) -> Option<Value> {
        let to = self.to.as_deref();
        let mut base = match base {
            Some(base) => base.clone()?,
            None => first(to?)?,
        };
        let value = self.value.clone()?;
        let values = match value {
            Value::Array(values) if self.many => values,
            value => vec![value],
        };
        for value in values {
            base = self.added(base, value)?;
        }
        Some(base)
    }

    fn added(&self, base: Value, more: Value) -> Option<Value> {
        let (to, of) = (self.to.as_deref()?, self.more.as_deref()?);
        match (base, more) {
            (Value::Array(mut items), more) if is_list(to) => {
                let item = item_of(to)?;
                let all = name_of(of) == name_of(to) || name_of(of) == "Vec" || of.starts_with('[');
                match more {
                    more if of == item => items.push(more),
                    Value::Array(more) if all && item_of(of) == Some(item) => items.extend(more),
                    Value::Null if of == format!("Option<{item}>") => {}
                    more if of == format!("Option<{item}>") => items.push(more),
                    _ => return None,
                }
                if name_of(to).ends_with("Set") {
                    items = set(items, item)?;
                }
                Some(Value::Array(items))
            }
            (Value::Object(mut pairs), Value::Object(more)) if is_map(to) && of == to => {
                pairs.extend(more);
                Some(Value::Object(pairs))
            }
            (Value::String(text), Value::String(more)) if to == "String" && of == to => {
                Some(Value::String(text + &more))
            }
            (Value::Number(one), Value::Number(other)) if is_number(to) && of == to => {
                sum(&one, &other, to)
            }
            _ => None,
        }
    }
}

/// The elements of a set as JSON, in their order. `None` if only the program knows that.
fn set(mut items: Vec<Value>, item: &str) -> Option<Vec<Value>> {
    let is_integer = is_number(item) && !item.starts_with('f');
    if item == "String" {
        items.sort_by(|one, other| one.as_str().cmp(&other.as_str()));
    } else if is_integer && items.iter().all(|item| item.as_i64().is_some()) {
        items.sort_by_key(Value::as_i64);
    } else {
        return None;
    }
    items.dedup();
    Some(items)
}

/// The type of a key: that of the flow's input, of a node that replaces the value, of the flow's
/// output, or of the first node that reads it.
fn type_of<'f>(flow: &'f FlowDocument, key: &str) -> Option<&'f str> {
    let written = || {
        flow.nodes.iter().find_map(|node| {
            let mut names = node.outputs.properties.keys();
            let name =
                names.find(|name| key_of_output(node, name) == key && !node.outputs.adds(name))?;
            node.outputs.rust_type(name)
        })
    };
    let read = || {
        flow.nodes.iter().find_map(|node| {
            let mut names = node.inputs.properties.keys();
            let name = names.find(|name| key_of_input(node, name) == key)?;
            let is_item = flow.nodes.iter().any(|each| {
                let item = each.params.get("item").and_then(Value::as_str);
                each.body() == Some(node.id.as_str()) && item == Some(key)
            });
            node.inputs.rust_type(name).filter(|_| !is_item)
        })
    };
    let of_input = flow.inputs.rust_type(key).or_else(written);
    let found = of_input
        .or_else(|| flow.outputs.rust_type(key))
        .or_else(read)?;
    Some(if found == "str" { "String" } else { found })
}

/// The name of a type without its path and its arguments.
fn name_of(ty: &str) -> &str {
    let name = ty.split('<').next().unwrap_or_default();
    name.rsplit("::").next().unwrap_or_default().trim()
}

/// The type of the items of a list, a slice or a set.
fn item_of(ty: &str) -> Option<&str> {
    let slice = || ty.strip_prefix('[')?.strip_suffix(']');
    let (_, rest) = ty.split_once('<').unwrap_or_default();
    rest.strip_suffix('>').or_else(slice)
}

fn is_list(ty: &str) -> bool {
    ty.starts_with('[') || ["Vec", "VecDeque", "BTreeSet", "HashSet"].contains(&name_of(ty))
}

fn is_map(ty: &str) -> bool {
    ["BTreeMap", "HashMap"].contains(&name_of(ty))
}

fn is_number(ty: &str) -> bool {
    let (kind, bits) = ty.split_at_checked(1).unwrap_or_default();
    ["u", "i", "f"].contains(&kind) && (bits == "size" || bits.parse::<u8>().is_ok())
}

/// The default of a type.
fn first(ty: &str) -> Option<Value> {
    match ty {
        "String" => Some(json!("")),
        "f32" | "f64" => Some(json!(0.0)),
        ty if is_number(ty) => Some(json!(0)),
        ty if is_list(ty) => Some(json!([])),
        ty if is_map(ty) => Some(Value::Object(Map::new())),
        _ => None,
    }
}

/// The sum of integers, or of numbers of 64 bits: those of 32 bits are rounded otherwise.
fn sum(one: &Number, other: &Number, to: &str) -> Option<Value> {
    if to == "f64" {
        return Number::from_f64(one.as_f64()? + other.as_f64()?).map(Value::Number);
    }
    let sum = one.as_i128()?.checked_add(other.as_i128()?)?;
    Number::from_i128(sum).map(Value::Number)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn add(to: &str, base: Option<Value>, more_type: &str, more: Value) -> Option<Value> {
        let added = Added {
            key: "key".to_owned(),
            value: Some(more),
            to: Some(to.to_owned()),
            more: Some(more_type.to_owned()),
            many: false,
        };
        added.to(base.map(Some).as_ref())
    }

    #[test]
    fn an_item_a_list_and_an_option_are_told_apart_by_their_types() {
        let base = || Some(json!([[1]]));
        let to = "Vec<Vec<u64>>";
        assert_eq!(
            add(to, base(), "Vec<u64>", json!([2])),
            Some(json!([[1], [2]]))
        );
        assert_eq!(add(to, base(), to, json!([[2]])), Some(json!([[1], [2]])));
        assert_eq!(add(to, base(), "Option<Vec<u64>>", json!(null)), base());
        assert_eq!(add("Vec<u64>", None, "u64", json!(1)), Some(json!([1])));
        let options = add("Vec<Option<u64>>", None, "Option<u64>", json!(null));
        assert_eq!(options, Some(json!([null])));
    }

    #[test]
    fn sets_maps_text_and_numbers_are_added_to() {
        let set = Some(json!([1, 2]));
        assert_eq!(add("BTreeSet<u64>", set.clone(), "u64", json!(2)), set);
        let more = add("BTreeSet<u64>", Some(json!([1, 3])), "u64", json!(2));
        assert_eq!(more, Some(json!([1, 2, 3])));
        let map = "BTreeMap<u64, String>";
        let pairs = add(map, Some(json!({ "1": "a" })), map, json!({ "2": "b" }));
        assert_eq!(pairs, Some(json!({ "1": "a", "2": "b" })));
        assert_eq!(
            add("String", Some(json!("a")), "String", json!("b")),
            Some(json!("ab"))
        );
        assert_eq!(
            add("u64", Some(json!(u64::MAX - 1)), "u64", json!(1)),
            Some(json!(u64::MAX))
        );
        assert_eq!(add("f64", None, "f64", json!(0.5)), Some(json!(0.5)));
    }

    #[test]
    fn what_only_the_program_can_add_is_not_told() {
        let usage = Some(json!({ "calls": 1 }));
        assert_eq!(add("Usage", usage, "u64", json!(2)), None);
        assert_eq!(add("Usage", None, "u64", json!(2)), None);
        let messages = Some(json!([{ "text": "a" }]));
        assert_eq!(
            add("Vec<Message>", messages, "Reply", json!({ "text": "b" })),
            None
        );
        assert_eq!(
            add(
                "Vec<Point>",
                Some(json!([])),
                "geo::Point",
                json!([1.0, 2.0])
            ),
            None
        );
        assert_eq!(add("f32", Some(json!(0.1)), "f32", json!(0.2)), None);
        let levels = Some(json!(["Low"]));
        assert_eq!(
            add("BTreeSet<Severity>", levels, "Severity", json!("High")),
            None
        );
    }
}
