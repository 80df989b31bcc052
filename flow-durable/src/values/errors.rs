//! The errors of nodes that have not been routed.

use std::collections::BTreeMap;

use flow_runtime::engine::StepKey;
use flow_store::{Record, RecordKind};
use serde_json::Value;

/// Errors by step. `None` for one that the journal does not show, such as that of a timeout.
#[derive(Debug, Default)]
pub(super) struct Errors(BTreeMap<String, (u64, Option<Value>)>);

impl Errors {
    /// Adds the error of a failed step. `None` if its record does not show it.
    pub(super) fn add(&mut self, record: &Record, error: Option<Value>) {
        self.0.insert(record.step.clone(), (record.seq, error));
    }

    /// Adds the failure of an attempt at a flow that failed or took too long. Its error becomes the
    /// error of the node.
    pub(super) fn of_attempt(&mut self, record: &Record) {
        let error = self.take(&record.step);
        let error = error.filter(|_| record.kind == RecordKind::FlowFailed);
        let node = StepKey::new(&record.step).without_retry();
        self.0.insert(node.to_string(), (record.seq, error));
    }

    /// Takes the error of a step: its own, or the first one inside it. Forgets the others.
    pub(super) fn take(&mut self, step: &str) -> Option<Value> {
        let within = self.within(step);
        let found = within.iter().filter_map(|step| self.0.remove(step));
        let found: Vec<_> = found.collect();
        let is_own = within.first().is_some_and(|first| first == step);
        let mut found = found.into_iter();
        let first = if is_own {
            found.next()
        } else {
            found.min_by_key(|(seq, _)| *seq)
        };
        first.and_then(|(_, error)| error)
    }

    /// Takes the errors of the items of a loop, by index.
    pub(super) fn take_items(&mut self, each: &str) -> Vec<(usize, Option<Value>)> {
        let items = self.within(each).into_iter();
        let items = items.filter_map(|step| {
            let (of, index) = StepKey::new(&step).item()?;
            (of.as_str() == each).then(|| (index as usize, self.take(&step)))
        });
        items.collect()
    }

    /// The steps with errors within a step, itself first.
    fn within(&self, step: &str) -> Vec<String> {
        let steps = StepKey::new(step).within(&self.0);
        steps.map(|(step, _)| step.to_owned()).collect()
    }
}
