//! One node in two versions. Runs have stored its actions and the values that it wrote.

mod actions;
mod ports;
mod values;

use crate::document::{FlowDocument, NodeDocument, types};

pub(super) use actions::Written;
pub(super) use values::params;

use super::change::{Change, Effect, Kind, Part};
use super::context::Context;
use super::matching::Renamed;

/// A node in both versions, each with its index.
struct Pair<'a> {
    old: (usize, &'a NodeDocument),
    new: (usize, &'a NodeDocument),
    /// Its name in messages.
    name: String,
    /// The flow around it, in the old version.
    flow: &'a FlowDocument,
    /// The nodes of its flow that were renamed.
    renamed: &'a Renamed<'a>,
    context: &'a Context,
}

pub(super) fn compare(
    old: (usize, &NodeDocument),
    new: (usize, &NodeDocument),
    (flow, renamed): (&FlowDocument, &Renamed<'_>),
    context: &Context,
    changes: &mut Vec<Change>,
) {
    let before = changes.len();
    let name = context.node(&new.1.id);
    let pair = Pair {
        old,
        new,
        name,
        flow,
        renamed,
        context,
    };
    pair.compare_type(changes);
    pair.compare_actions(changes);
    pair.compare_writes(changes);
    pair.compare_reads(changes);
    pair.compare_values(changes);
    pair.compare_rest(changes);
    pair.compare_flow(changes);
    let is_same = NodeDocument {
        id: new.1.id.clone(),
        params: values::params(old.1, renamed),
        settings: values::renamed_settings(old.1, new.1, renamed),
        ..old.1.clone()
    } == *new.1;
    if changes.len() == before && !is_same {
        let message = format!("`{}` is written in another order", pair.name);
        changes.push(pair.harmless(Part::Node, Kind::Changed, "", message));
    }
}

impl Pair<'_> {
    fn change(
        &self,
        effect: Effect,
        part: Part,
        kind: Kind,
        place: &str,
        message: String,
    ) -> Change {
        let node = match kind {
            Kind::Removed => self.old,
            _ => self.new,
        };
        let mut change = self.context.node_change(part, kind, node, place, message);
        let (old, new) = (&self.old.1.id, &self.new.1.id);
        change.old_path = (old != new).then(|| self.context.node(old));
        change.for_executions(effect)
    }

    fn harmless(&self, part: Part, kind: Kind, place: &str, message: String) -> Change {
        self.change(Effect::Compatible, part, kind, place, message)
    }

    fn breaking(&self, part: Part, kind: Kind, place: &str, message: String) -> Change {
        self.change(Effect::Breaking, part, kind, place, message)
    }

    /// The paths of the nodes that it takes back: their visits have kept what it reads. Empty if it is
    /// no undo node.
    fn taken_back(&self) -> Vec<String> {
        let mut taken_back = self.flow.undo_nodes();
        let nodes = taken_back.remove(self.old.1.id.as_str());
        let nodes = nodes.into_iter().flatten();
        nodes.map(|node| self.context.node(&node.id)).collect()
    }

    /// A change of what a node writes or of its actions. Those of a signal are what callers send.
    fn sent(&self, change: Change) -> Change {
        if self.old.1.signal().is_none() || self.old.1.signal() != self.new.1.signal() {
            return change;
        }
        let executions = change.executions;
        change.for_callers(executions)
    }

    fn compare_type(&self, changes: &mut Vec<Change>) {
        let (old, new) = (&self.old.1.r#type, &self.new.1.r#type);
        if old != new {
            let message = format!("`{}` was a `{old}`, and is a `{new}`", self.name);
            // The function is not recorded. Its decisions and writes are, and they are compared.
            let is_built_in = |name: &str| types::ALL.contains(&name);
            let effect = if is_built_in(old) || is_built_in(new) {
                Effect::Breaking
            } else {
                Effect::Compatible
            };
            changes.push(self.change(effect, Part::Node, Kind::Retyped, "/type", message));
        }
    }

    fn compare_rest(&self, changes: &mut Vec<Change>) {
        let (old, new) = (self.old.1, self.new.1);
        if old.mappings.inputs != new.mappings.inputs {
            let message = format!("`{}` reads from other keys", self.name);
            let change = self.harmless(Part::Read, Kind::Changed, "/mappings/inputs", message);
            changes.push(change.behind(self.taken_back()));
        }
        let mut compare = |differs: bool, part, place, what: &str| {
            if differs {
                let message = format!("`{}` {what}", self.name);
                changes.push(self.harmless(part, Kind::Changed, place, message));
            }
        };
        let differs = old.description != new.description;
        compare(
            differs,
            Part::Node,
            "/description",
            "is described otherwise",
        );
        compare(
            old.title != new.title,
            Part::Node,
            "/title",
            "has another title",
        );
        compare(
            old.icon != new.icon,
            Part::Node,
            "/icon",
            "has another icon",
        );
        compare(
            old.group != new.group,
            Part::Node,
            "/group",
            "is in another group",
        );
        compare(old.tags != new.tags, Part::Node, "/tags", "has other tags");
        let differs = old.params_omitted != new.params_omitted;
        compare(
            differs,
            Part::Param,
            "/paramsOmitted",
            "leaves out other params",
        );
        let differs = old.mappings.outputs != new.mappings.outputs;
        compare(
            differs,
            Part::Write,
            "/mappings/outputs",
            "writes to other keys",
        );
        let differs = old.dependencies != new.dependencies;
        compare(differs, Part::Node, "/dependencies", "depends on others");
    }

    fn compare_flow(&self, changes: &mut Vec<Change>) {
        let (old, new, name) = (self.old.1, self.new.1, &self.name);
        match (&old.internal_flow, &new.internal_flow) {
            (Some(before), Some(after)) => {
                let flows = (&**before, &**after);
                self.context
                    .compare_nested(self.flow, self.old, self.new, flows, changes);
            }
            (None, None) if old.is_flow() == new.is_flow() => {}
            _ if old.is_flow() && new.is_flow() => {
                let message =
                    format!("the flow of `{name}` stands in one version only: it is not compared");
                changes.push(self.harmless(Part::Node, Kind::Changed, "", message));
            }
            _ => {
                let message = if new.is_flow() {
                    format!("`{name}` is a flow now")
                } else {
                    format!("`{name}` is not a flow any more")
                };
                changes.push(self.breaking(Part::Node, Kind::Retyped, "", message));
            }
        }
    }
}
