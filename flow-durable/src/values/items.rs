//! The results of the items of running loops.

use std::collections::HashMap;

use flow_spec::{FlowDocument, NodeDocument};
use serde_json::{Value, json};

use super::frame::Known;
use crate::events::split_item;

/// The results by index. `None` for one that is not known.
pub(super) type Results = HashMap<usize, Option<Value>>;

/// The results of running loops, by the step of the loop.
#[derive(Debug, Default)]
pub(super) struct Items(HashMap<String, Results>);

impl Items {
    /// Adds the result of an item that is done.
    pub(super) fn done(&mut self, step: &str, each: &NodeDocument, result: Option<Value>) {
        let Some((each_step, index)) = item_of(step) else {
            return;
        };
        let result = if each.settings.collect_errors {
            result.map(|result| json!({ "Ok": result }))
        } else {
            result
        };
        let results = self.0.entry(each_step).or_default();
        results.insert(index, result);
    }

    /// Adds the results of a part of a loop that is done, from this item on.
    pub(super) fn part_done(&mut self, step: &str, first: usize, results: Vec<Value>) {
        let all = self.0.entry(step.to_owned()).or_default();
        all.extend((first..).zip(results.into_iter().map(Some)));
    }

    /// Takes the results of a loop that is done.
    pub(super) fn take(&mut self, step: &str) -> Results {
        self.0.remove(step).unwrap_or_default()
    }
}

/// The step of the loop, and the index of the item.
pub(super) fn item_of(step: &str) -> Option<(String, usize)> {
    let (before, last) = step.rsplit_once('.').unwrap_or(("", step));
    let (name, index) = split_item(last);
    let each = match before {
        "" => name.to_owned(),
        before => format!("{before}.{name}"),
    };
    Some((each, usize::try_from(index?).ok()?))
}

/// The step of the loop and the first item, given a part of a loop: `report.lines[16..32]`.
pub(super) fn part_of(step: &str) -> Option<(&str, usize)> {
    let (each, range) = step.strip_suffix(']')?.rsplit_once('[')?;
    let (first, _) = range.split_once("..")?;
    Some((each, first.parse().ok()?))
}

/// The result of an item for which a flow ran. A flow with one output or none and with one end has
/// its output as the result; any other has a struct that only its program knows.
pub(super) fn result_of_flow(flow: &FlowDocument, ended: &Known) -> Option<Value> {
    if flow.end_labels().len() != 1 {
        return None;
    }
    let mut outputs = flow.outputs.properties.keys();
    match (outputs.next(), outputs.next()) {
        (None, _) => Some(Value::Null),
        (Some(only), None) => match ended.get(only) {
            Some(value) => value.clone(),
            None => Some(Value::Null),
        },
        _ => None,
    }
}
