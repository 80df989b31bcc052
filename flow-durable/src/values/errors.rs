//! The errors of nodes that have not been routed.

use std::collections::BTreeMap;

use flow_store::{Record, RecordKind};
use serde_json::Value;

use super::items::item_of;
use crate::steps::{is_within, without_retry};

/// Errors by step. `None` for one that the journal does not show, such as that of a timeout.
#[derive(Debug, Default)]
pub(super) struct Errors(BTreeMap<String, (u64, Option<Value>)>);

impl Errors {
    /// A step has failed, with an error that its record shows or not.
    pub(super) fn add(&mut self, record: &Record, error: Option<Value>) {
        self.0.insert(record.step.clone(), (record.seq, error));
    }

    /// An attempt at a flow has failed or took too long. What it failed with is the error of the
    /// node.
    pub(super) fn of_attempt(&mut self, record: &Record) {
        let error = self.take(&record.step);
        let error = error.filter(|_| record.kind == RecordKind::FlowFailed);
        let node = without_retry(&record.step).to_owned();
        self.0.insert(node, (record.seq, error));
    }

    /// The error of a step: its own, or the first one inside it. Those inside it are forgotten.
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

    /// The errors of the items of a loop, by index.
    pub(super) fn take_items(&mut self, each: &str) -> Vec<(usize, Option<Value>)> {
        let items = self.within(each).into_iter();
        let items = items.filter_map(|step| {
            let (of, index) = item_of(&step)?;
            (of == each).then(|| Some((index, self.take(&step))))?
        });
        items.collect()
    }

    /// The steps with errors within a step, itself first.
    fn within(&self, step: &str) -> Vec<String> {
        let steps = self.0.range(step.to_owned()..).map(|(step, _)| step);
        let steps = steps.take_while(|other| other.starts_with(step));
        steps
            .filter(|other| is_within(other, step))
            .cloned()
            .collect()
    }
}
