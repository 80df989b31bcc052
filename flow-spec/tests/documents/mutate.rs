//! Documents with something changed: at random in their text, or in one place of their JSON.

use flow_spec::FlowDocument;
use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::{Map, Value, json};

use crate::generate::documents;

/// The JSON of a document with some of its letters removed, repeated or replaced.
pub(crate) fn text() -> impl Strategy<Value = String> {
    let letters = "[\\PC\"\\\\{}\\[\\],:0-9]{0,6}";
    let changes = prop::collection::vec((any::<Index>(), 0..12_usize, letters), 0..4);
    (documents(), any::<bool>(), changes).prop_map(|(flow, is_compact, changes)| {
        let text = if is_compact {
            flow.to_compact_json()
        } else {
            flow.to_json()
        };
        let mut letters: Vec<char> = text.chars().collect();
        for (at, removed, inserted) in changes {
            let at = at.index(letters.len() + 1);
            let end = (at + removed).min(letters.len());
            letters.splice(at..end, inserted.chars());
        }
        letters.into_iter().collect()
    })
}

/// A document, and its JSON with one change.
pub(crate) fn changed() -> impl Strategy<Value = (FlowDocument, Value)> {
    let change = (any::<Index>(), any::<Index>(), any::<Index>());
    (documents(), change).prop_map(|(flow, (place, what, with))| {
        let mut value = serde_json::to_value(&flow).unwrap();
        let mut places = Vec::new();
        pointers(&value, String::new(), &mut places);
        let place = &places[place.index(places.len())];
        let at = value.pointer_mut(place).unwrap();
        change_at(at, what, with);
        (flow, value)
    })
}

fn pointers(value: &Value, at: String, found: &mut Vec<String>) {
    match value {
        Value::Object(map) => {
            for (name, value) in map {
                let name = name.replace('~', "~0").replace('/', "~1");
                pointers(value, format!("{at}/{name}"), found);
            }
        }
        Value::Array(items) => {
            for (index, value) in items.iter().enumerate() {
                pointers(value, format!("{at}/{index}"), found);
            }
        }
        _ => {}
    }
    found.push(at);
}

fn change_at(value: &mut Value, what: Index, with: Index) {
    let others = [
        json!(null),
        json!(true),
        json!(0),
        json!(2),
        json!(-0.5),
        json!(""),
        json!("default"),
        json!("flow.wait"),
        json!("flow.wiat"),
        json!([]),
        json!({}),
        json!([{}]),
        json!(["claim"]),
        json!({ "type": "x", "id": "x" }),
    ];
    let other = others[with.index(others.len())].clone();
    match (what.index(4), value) {
        (0, Value::Object(map)) => change_name(map, with),
        (1, Value::Object(map)) => {
            let names = [
                "condition",
                "entryNodeId",
                "wait",
                "label",
                "writes",
                "rustType",
            ];
            map.insert(names[with.index(names.len())].to_owned(), other);
        }
        (0, Value::Array(items)) if !items.is_empty() => {
            items.remove(with.index(items.len()));
        }
        (1, Value::Array(items)) if !items.is_empty() => {
            items.push(items[with.index(items.len())].clone());
        }
        (2, Value::Array(items)) if !items.is_empty() => items.reverse(),
        (0, Value::Bool(flag)) => *flag = !*flag,
        (0 | 1, Value::String(text)) => text.push('x'),
        (_, value) => *value = other,
    }
}

/// Removes a field, or gives it another name.
fn change_name(map: &mut Map<String, Value>, with: Index) {
    let names: Vec<String> = map.keys().cloned().collect();
    if names.is_empty() {
        return;
    }
    let at = with.index(2 * names.len());
    let name = &names[at / 2];
    if let Some(value) = map.shift_remove(name)
        && at.is_multiple_of(2)
    {
        map.insert(format!("{name}s"), value);
    }
}
