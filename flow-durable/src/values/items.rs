//! The results of the items of running loops.

use std::collections::HashMap;
use std::ops::Range;

use flow_runtime::engine::StepKey;
use flow_spec::{FlowDocument, NodeDocument};
use serde_json::{Value, json};

use super::frame::Known;

/// The results by index. `None` for one that is not known.
pub(super) type Results = HashMap<usize, Option<Value>>;

/// The results of running loops, by the step of the loop.
#[derive(Debug, Default)]
pub(super) struct Items(HashMap<String, Results>);

impl Items {
    /// Adds the result of an item that is done.
    pub(super) fn done(&mut self, step: &str, each: &NodeDocument, result: Option<Value>) {
        let Some((each_step, index)) = StepKey::new(step).item() else {
            return;
        };
        let result = if each.settings.collect_errors {
            result.map(|result| json!({ "Ok": result }))
        } else {
            result
        };
        let results = self.0.entry(each_step.to_string()).or_default();
        results.insert(index as usize, result);
    }

    /// Adds the results of a part of a loop that is done, which ran these items.
    pub(super) fn part_done(&mut self, each: StepKey<'_>, items: Range<u32>, results: Vec<Value>) {
        let all = self.0.entry(each.to_string()).or_default();
        let first = items.start as usize;
        all.extend((first..).zip(results.into_iter().map(Some)));
    }

    /// Takes the results of a loop that is done.
    pub(super) fn take(&mut self, step: &str) -> Results {
        self.0.remove(step).unwrap_or_default()
    }
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
