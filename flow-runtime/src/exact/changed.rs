//! Checks whether a value that was read is the one that was written.
//!
//! serde does not say so, and values need not be `PartialEq`. But writing the value that was read
//! tells most: another variant of an untagged enum, or a lost field.

use serde::Serialize;
use serde_json::Value;

use super::{Inexact, to_json, to_json_text};

/// The number of characters of a value that a message shows.
const SHOWN: usize = 60;

/// Checks that a value which was read from JSON is written as the same JSON again. The order of a
/// list may differ, as that of a set does.
///
/// `original` is the value from which the text was written. A value whose JSON differs each time
/// cannot be checked.
///
/// # Errors
///
/// The difference.
pub fn unchanged<T: Serialize>(text: &str, original: &T, read: &T) -> Result<(), Inexact> {
    if to_json_text(read)? == text {
        return Ok(());
    }
    let Ok(written) = serde_json::from_str::<Value>(text) else {
        return Ok(());
    };
    match difference(&written, &to_json(read)?) {
        Some(_) if difference(&written, &to_json(original)?).is_some() => Ok(()),
        Some(inexact) => Err(inexact),
        None => Ok(()),
    }
}

/// The difference between a written value and the value that is read from it, if any.
pub(crate) fn difference(written: &Value, read: &Value) -> Option<Inexact> {
    if is_same(written, read) {
        return None;
    }
    let (mut written, mut read, mut path) = (written, read, String::new());
    loop {
        let inner = match (written, read) {
            (Value::Object(one), Value::Object(other)) if one.len() == other.len() => {
                let mut entries = one.iter();
                entries.find_map(|(key, one)| {
                    let other = other.get(key).filter(|other| !is_same(one, other))?;
                    Some((format!(".{key}"), one, other))
                })
            }
            (Value::Array(one), Value::Array(other)) if one.len() == other.len() => {
                let mut items = one.iter().zip(other).enumerate();
                items
                    .find(|(_, (one, other))| !is_same(one, other))
                    .map(|(index, (one, other))| (format!("[{index}]"), one, other))
            }
            _ => None,
        };
        let Some((segment, one, other)) = inner else {
            break;
        };
        path.push_str(&segment);
        (written, read) = (one, other);
    }
    let reason = format!(
        "it is written as {}, and what is read from that is written as {}",
        shown(written),
        shown(read)
    );
    Some(Inexact { path, reason })
}

fn shown(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

fn is_same(one: &Value, other: &Value) -> bool {
    one == other || in_order(one) == in_order(other)
}

/// The value with the items of its lists in an order that depends only on the items.
fn in_order(value: &Value) -> Value {
    match value {
        Value::Array(items) => {
            let mut items: Vec<Value> = items.iter().map(in_order).collect();
            items.sort_by_cached_key(Value::to_string);
            Value::Array(items)
        }
        Value::Object(object) => {
            let entries = object.iter();
            entries
                .map(|(key, value)| (key.clone(), in_order(value)))
                .collect()
        }
        value => value.clone(),
    }
}
