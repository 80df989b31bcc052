//! Damages documents.

use serde_json::{Value, json};

/// Every value of a document that can be replaced.
fn places(value: &Value, pointer: String, found: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            for (name, field) in fields {
                places(field, format!("{pointer}/{name}"), found);
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                places(item, format!("{pointer}/{index}"), found);
            }
        }
        _ => {}
    }
    found.push(pointer);
}

/// Changes one place: to another value of the document, or to one that nobody expects.
pub(crate) fn damage(document: &mut Value, random: &mut fastrand::Rng) {
    let mut all = Vec::new();
    places(document, String::new(), &mut all);
    let place = all[random.usize(..all.len())].clone();
    let other = document.pointer(&all[random.usize(..all.len())]).cloned();
    let odd = [
        json!(null),
        json!(0),
        json!(""),
        json!([]),
        json!({}),
        json!("default"),
        json!("1s"),
    ];
    let new = match random.u8(..4) {
        0 => odd[random.usize(..odd.len())].clone(),
        _ => other.unwrap_or_default(),
    };
    let (parent, name) = place.rsplit_once('/').unwrap_or_default();
    let removes = random.u8(..4) == 0;
    match document.pointer_mut(parent) {
        Some(Value::Object(fields)) if removes => drop(fields.remove(name)),
        Some(Value::Array(items)) if removes => {
            if let Ok(index) = name.parse::<usize>() {
                items.remove(index);
            }
        }
        _ => {
            if let Some(value) = document.pointer_mut(&place) {
                *value = new;
            }
        }
    }
}
