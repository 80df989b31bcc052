//! The parts that callers see: the flow's name, its inputs, its outputs and its ends.

use crate::document::problem::inside;
use crate::document::{FlowDocument, Schema};

use super::change::{Change, Effect, Kind, Part};
use super::context::Context;
use super::matching::{Match, match_names};
use super::node::Written;
use super::types::{self, Types};
use super::values::{differing, sentence};

pub(super) fn compare(
    old: &FlowDocument,
    new: &FlowDocument,
    context: &Context,
    changes: &mut Vec<Change>,
) {
    names(old, new, context, changes);
    if !context.is_said {
        for side in [Side::inputs(), Side::outputs()] {
            side.compare(old, new, context, changes);
        }
        labels(old, new, context, changes);
        written_at_ends(old, new, context, changes);
    }
    about(old, new, context, changes);
}

/// Compares the name and the namespace. Those of an inner flow belong to the node and are reported
/// there.
fn names(old: &FlowDocument, new: &FlowDocument, context: &Context, changes: &mut Vec<Change>) {
    let of_flow = context.of_flow();
    let for_executions = if context.is_outermost() {
        Effect::Breaking
    } else {
        Effect::Compatible
    };
    if old.name != new.name {
        let message = format!(
            "{of_flow}the flow was renamed from `{}` to `{}`",
            old.name, new.name
        );
        let change = context.change(Part::Flow, Kind::Renamed, "/name", message);
        let for_callers = context.to_callers(Effect::Breaking);
        changes.push(
            change
                .for_callers(for_callers)
                .for_executions(for_executions),
        );
    }
    if old.namespace != new.namespace {
        let message = format!(
            "{of_flow}the namespace was `{}`, and is `{}`",
            old.namespace, new.namespace
        );
        let change = context.change(Part::Flow, Kind::Renamed, "/namespace", message);
        changes.push(change.for_executions(for_executions));
    }
}

/// Compares the parts that describe the flow without changing its behaviour.
fn about(old: &FlowDocument, new: &FlowDocument, context: &Context, changes: &mut Vec<Change>) {
    let of_flow = context.of_flow();
    let mut add = |field: &str, message: String| {
        let change = context.change(Part::Flow, Kind::Changed, field, message);
        changes.push(change.for_callers(context.to_callers(Effect::Compatible)));
    };
    if old.version != new.version {
        let message = format!(
            "{of_flow}the format has the version {}, and had {}",
            new.version, old.version
        );
        add("/version", message);
    }
    if old.description != new.description {
        add(
            "/description",
            format!("{of_flow}the flow is described otherwise"),
        );
    }
    if old.dependencies != new.dependencies {
        let (old, new) = (&old.dependencies, &new.dependencies);
        let (old, new) = (
            old.clone().unwrap_or_default(),
            new.clone().unwrap_or_default(),
        );
        let found = differing(&old, &new);
        for (name, _) in &found {
            let message = format!("{of_flow}{}", sentence("dependency", name, &old, &new));
            add("/dependencies", message);
        }
        if found.is_empty() {
            add(
                "/dependencies",
                format!("{of_flow}the dependencies are written otherwise"),
            );
        }
    }
}

fn labels(old: &FlowDocument, new: &FlowDocument, context: &Context, changes: &mut Vec<Change>) {
    let of_flow = context.of_flow();
    let (before, after) = (old.end_labels(), new.end_labels());
    let place = |flow: &FlowDocument, label: &str| {
        let index = flow.ends.iter().position(|end| end.label == label);
        inside(&inside("/ends", index.unwrap_or_default()), "label")
    };
    for found in match_names(&before, &after, |_, _| false) {
        let change = match found {
            Match::Kept(_) | Match::Renamed { .. } => continue,
            Match::Added(label) => {
                let message = format!(
                    "{of_flow}end \"{label}\" was added: whoever matches on the ends has to expect it"
                );
                context.change(Part::End, Kind::Added, &place(new, label), message)
            }
            Match::Removed(label) => {
                let message = format!("{of_flow}end \"{label}\" was removed");
                context.change(Part::End, Kind::Removed, &place(old, label), message)
            }
        };
        changes.push(change.for_callers(context.to_callers(Effect::Breaking)));
    }
}

/// Compares, for each end, the outputs that may be missing at other ends.
fn written_at_ends(
    old: &FlowDocument,
    new: &FlowDocument,
    context: &Context,
    changes: &mut Vec<Change>,
) {
    let is_optional = |name: &&str| {
        let in_both = new.outputs.properties.contains_key(*name);
        in_both && !old.outputs.requires(name) && !new.outputs.requires(name)
    };
    let names: Vec<&str> = names_of(&old.outputs)
        .into_iter()
        .filter(is_optional)
        .collect();
    if names.is_empty() || !context.is_outermost() {
        return;
    }
    let (Some(before), Some(after)) = (old.written_at_ends(), new.written_at_ends()) else {
        return;
    };
    for end in &after {
        let Some(was) = before.iter().find(|was| was.name == end.name) else {
            continue;
        };
        for name in &names {
            let (what, effect) = match (Written::by(was, name), Written::by(end, name)) {
                (before, after) if before == after => continue,
                (Written::Never, Written::Perhaps) => ("may be there", Effect::Compatible),
                (Written::Never, _) => ("is there", Effect::Compatible),
                (_, Written::Never) => ("is never there", Effect::Breaking),
                (_, Written::Perhaps) => ("may be missing", Effect::Breaking),
                (_, Written::Always) => ("is always there", Effect::Breaking),
            };
            let message = format!("output `{name}` {what} at end \"{}\" now", end.name);
            let place = inside("/outputs/properties", name);
            let change = context.change(Part::Output, Kind::Changed, &place, message);
            changes.push(change.for_callers(effect));
        }
    }
}

/// The inputs or the outputs.
struct Side {
    field: &'static str,
    part: Part,
    is_input: bool,
}

impl Side {
    fn inputs() -> Self {
        Side {
            field: "/inputs",
            part: Part::Input,
            is_input: true,
        }
    }

    fn outputs() -> Self {
        Side {
            field: "/outputs",
            part: Part::Output,
            is_input: false,
        }
    }

    fn schema<'a>(&self, flow: &'a FlowDocument) -> &'a Schema {
        if self.is_input {
            &flow.inputs
        } else {
            &flow.outputs
        }
    }

    fn what(&self) -> &'static str {
        if self.is_input { "input" } else { "output" }
    }

    fn compare(
        &self,
        old: &FlowDocument,
        new: &FlowDocument,
        context: &Context,
        changes: &mut Vec<Change>,
    ) {
        let (old, new) = (self.schema(old), self.schema(new));
        let alike = |before: &str, after: &str| {
            let types = types::compare(&old.properties[before], &new.properties[after]);
            !matches!(types, Types::Other(_)) && old.requires(before) == new.requires(after)
        };
        let (before, after) = (names_of(old), names_of(new));
        for found in match_names(&before, &after, alike) {
            match found {
                Match::Kept(name) => self.kept(name, old, new, context, changes),
                Match::Renamed { old, new } => {
                    let message = format!("`{old}` was renamed to `{new}`");
                    changes.push(self.change(Kind::Renamed, new, message, true, context));
                }
                Match::Added(name) => {
                    let is_required = new.requires(name);
                    let message = match (self.is_input, is_required) {
                        (true, true) => format!("`{name}` was added, and has to be given"),
                        (true, false) => format!("`{name}` was added, and may be left out"),
                        (false, _) => format!("`{name}` was added"),
                    };
                    let breaks = self.is_input && is_required;
                    changes.push(self.change(Kind::Added, name, message, breaks, context));
                }
                Match::Removed(name) => {
                    let message = format!("`{name}` was removed");
                    let change = self.change(Kind::Removed, name, message, true, context);
                    // A run may have been started with more inputs than are read.
                    let executions = change.executions.min(Effect::Compatible);
                    changes.push(change.for_executions(executions));
                }
            }
        }
        if old.keywords != new.keywords {
            let message = format!(
                "{}the schema of the {}s has other keywords",
                context.of_flow(),
                self.what()
            );
            let change = context.change(self.part, Kind::Changed, self.field, message);
            changes.push(change.for_callers(context.to_callers(Effect::Compatible)));
        }
    }

    fn kept(
        &self,
        name: &str,
        old: &Schema,
        new: &Schema,
        context: &Context,
        changes: &mut Vec<Change>,
    ) {
        let mut add = |kind, message, breaks| {
            changes.push(self.change(kind, name, message, breaks, context));
        };
        let default = self.default_changed(name, old, new);
        let is_default_changed = default.is_some();
        if let Some(message) = default {
            add(Kind::Changed, message, false);
        }
        match types::compare(&old.properties[name], &new.properties[name]) {
            Types::Same => {}
            // The rest may be unchanged.
            Types::Described if is_default_changed => {}
            Types::Described => add(
                Kind::Changed,
                format!("`{name}` is described otherwise"),
                false,
            ),
            Types::Other(names) => add(Kind::Retyped, retyped(name, names), true),
        }
        let message = match (self.is_input, old.requires(name), new.requires(name)) {
            (_, true, true) | (_, false, false) => return,
            (true, true, false) => format!("`{name}` may be left out now"),
            (true, false, true) => format!("`{name}` has to be given now"),
            (false, true, false) => format!("`{name}` may be missing now"),
            (false, false, true) => format!("`{name}` is always there now"),
        };
        // An output that may be missing is an `Option`, so a change in either direction breaks its
        // readers.
        let breaks = !self.is_input || new.requires(name);
        add(Kind::Changed, message, breaks);
    }

    /// The new default of an input, if it changed.
    fn default_changed(&self, name: &str, old: &Schema, new: &Schema) -> Option<String> {
        let is_omitted = new.omits_default_of(name);
        match (old.default_of(name), new.default_of(name)) {
            _ if !self.is_input => None,
            (old_one, new_one) if old_one == new_one => {
                let was_omitted = old.omits_default_of(name);
                match (was_omitted, is_omitted) {
                    (false, true) => Some(format!("`{name}` has a default now")),
                    (true, false) => Some(format!("`{name}` no longer has a default")),
                    _ => None,
                }
            }
            (Some(old), None) if is_omitted => Some(format!(
                "`{name}` had the default {old}, and has one that the document does not say"
            )),
            (None, None) => unreachable!("they are equal"),
            (None, Some(new)) => Some(format!("`{name}` has a default now: {new}")),
            (Some(old), None) => Some(format!("`{name}` no longer has a default, which was {old}")),
            (Some(old), Some(new)) => {
                Some(format!("`{name}` had the default {old}, and has {new}"))
            }
        }
    }

    /// A change of one value. The inputs of a run are stored with it; its outputs are not.
    fn change(
        &self,
        kind: Kind,
        name: &str,
        message: String,
        breaks: bool,
        context: &Context,
    ) -> Change {
        let effect = if breaks {
            Effect::Breaking
        } else {
            Effect::Compatible
        };
        let place = inside(&inside(self.field, "properties"), name);
        let message = format!("{}{} {message}", context.of_flow(), self.what());
        let change = context.change(self.part, kind, &place, message);
        let executions = if self.is_input && context.is_outermost() {
            effect
        } else {
            change.executions
        };
        change
            .for_callers(context.to_callers(effect))
            .for_executions(executions)
    }
}

pub(super) fn names_of(schema: &Schema) -> Vec<&str> {
    schema.properties.keys().map(String::as_str).collect()
}

/// The message that the values of this name have another type.
pub(super) fn retyped(name: &str, types: Option<(String, String)>) -> String {
    match types {
        Some((old, new)) => format!("`{name}` was `{old}`, and is `{new}`"),
        None => format!("`{name}` has values of another shape"),
    }
}
