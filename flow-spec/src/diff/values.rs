//! The parts of JSON objects that differ.

use serde_json::{Map, Value};

use super::change::Kind;

/// The longest value that a message shows.
const LONGEST: usize = 60;

/// The name of each value that differs, with the kind of change: those of the new object in its
/// order, then those that were removed.
pub(super) fn differing<'a>(
    old: &'a Map<String, Value>,
    new: &'a Map<String, Value>,
) -> Vec<(&'a str, Kind)> {
    let mut found = Vec::new();
    for (name, value) in new {
        match old.get(name) {
            Some(before) if before == value => {}
            Some(_) => found.push((name.as_str(), Kind::Changed)),
            None => found.push((name.as_str(), Kind::Added)),
        }
    }
    let gone = old.keys().filter(|name| !new.contains_key(*name));
    found.extend(gone.map(|name| (name.as_str(), Kind::Removed)));
    found
}

/// The sentence about the change of a value with this name.
pub(super) fn sentence(
    what: &str,
    name: &str,
    old: &Map<String, Value>,
    new: &Map<String, Value>,
) -> String {
    let shown = |values: &Map<String, Value>| {
        let text = values.get(name).map(Value::to_string)?;
        (text.len() <= LONGEST).then_some(text)
    };
    match (old.contains_key(name), new.contains_key(name)) {
        (false, _) => format!("{what} `{name}` was added"),
        (_, false) => format!("{what} `{name}` was removed"),
        _ => match (shown(old), shown(new)) {
            (Some(old), Some(new)) => format!("{what} `{name}` was {old}, and is {new}"),
            _ => format!("{what} `{name}` has another value"),
        },
    }
}
