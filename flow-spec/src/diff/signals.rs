//! The signals of a flow, which callers send by their names. It does not matter to them which node
//! waits, or in which inner flow.

use crate::document::FlowDocument;
use crate::document::problem::inside;
use crate::query::node_path;

use super::change::{Change, Effect, Kind, Part};

/// A signal, and the first node that waits for it.
struct Signal<'a> {
    name: &'a str,
    path: String,
    /// The place of its name or its type.
    pointer: String,
}

/// The signals of a flow and of its inner flows, each once.
#[derive(Default)]
struct Signals<'a> {
    found: Vec<Signal<'a>>,
    /// True if an inner flow was left out, which may wait for more.
    is_open: bool,
}

pub(super) fn compare(old: &FlowDocument, new: &FlowDocument, changes: &mut Vec<Change>) {
    let (before, after) = (Signals::of(old), Signals::of(new));
    for signal in after.unknown_to(&before) {
        let message = format!("signal `{}` was added", signal.name);
        changes.push(signal.change(Kind::Added, Effect::Compatible, message));
    }
    for signal in before.unknown_to(&after) {
        let message = format!(
            "signal `{}` was removed: whoever sends it is refused",
            signal.name
        );
        changes.push(signal.change(Kind::Removed, Effect::Breaking, message));
    }
}

impl Signal<'_> {
    fn change(&self, kind: Kind, callers: Effect, message: String) -> Change {
        Change {
            path: self.path.clone(),
            old_path: None,
            pointer: self.pointer.clone(),
            part: Part::Signal,
            kind,
            message,
            callers,
            executions: Effect::None,
            passed: Vec::new(),
        }
    }
}

impl<'a> Signals<'a> {
    fn of(flow: &'a FlowDocument) -> Self {
        let mut signals = Signals::default();
        signals.add(flow, "", "");
        signals
    }

    fn add(&mut self, flow: &'a FlowDocument, around: &str, pointer: &str) {
        for (index, node) in flow.nodes.iter().enumerate() {
            let pointer = inside(&inside(pointer, "nodes"), index);
            let path = node_path(around, &node.id);
            self.is_open |= node.internal_flow_omitted;
            if let Some(inner) = &node.internal_flow {
                self.add(inner, &path, &inside(&pointer, "internalFlow"));
            }
            if let Some(name) = node.signal().filter(|name| !self.has(name)) {
                let params = ["name", "expects"].into_iter();
                let mut params = params.filter(|param| node.params.contains_key(*param));
                let param = params.next().unwrap_or_default();
                let pointer = inside(&inside(&pointer, "params"), param);
                self.found.push(Signal {
                    name,
                    path,
                    pointer,
                });
            }
        }
    }

    fn has(&self, name: &str) -> bool {
        self.found.iter().any(|signal| signal.name == name)
    }

    /// The signals that the other version certainly does not have.
    fn unknown_to(&self, other: &Signals<'_>) -> impl Iterator<Item = &Signal<'a>> {
        let signals = self.found.iter().filter(|_| !other.is_open);
        signals.filter(|signal| !other.has(signal.name))
    }
}
