//! The outputs that are written at each end of the flow: on every path to it, on some of them, or
//! on none.

use std::collections::{HashMap, HashSet};

use super::assignment::Assignment;
use super::keys::Key;
use super::model::Model;
use super::points::{Point, point_of};
use super::routes::Effect;
use super::spelling::options;
use crate::graph::{Action, DEFAULT_ACTION, ERROR_KEY, EdgeTarget, NodeKind, NodeWrite, Output};

/// The ends of a flow as actions, each once, in the order written.
pub(super) fn find(model: &Model<'_>, assignment: &mut Assignment<'_>) -> Vec<Action> {
    let outputs = &model.graph.outputs;
    let (optional, required): (Vec<usize>, Vec<usize>) =
        (0..outputs.len()).partition(|&index| outputs[index].optional);
    let optional = optional.into_iter();
    let optional: HashMap<&str, usize> = optional
        .map(|index| (outputs[index].key.as_str(), index))
        .collect();
    let mut actions = Vec::new();
    for (label, ends) in ends(model) {
        let before = if optional.is_empty() {
            HashSet::new()
        } else {
            written_before(model, &ends)
        };
        let written = before.iter().filter_map(|key| optional.get(key).copied());
        let mut possible: Vec<usize> = required.iter().copied().chain(written).collect();
        possible.sort_unstable();
        let mut write = |output: &Output| NodeWrite {
            key: output.key.clone(),
            optional: output.optional && !is_certain(model, assignment, output, &ends),
            adds: false,
            rust_type: output.rust_type.clone(),
        };
        actions.push(Action {
            name: label.to_owned(),
            writes: possible.iter().map(|&at| write(&outputs[at])).collect(),
        });
    }
    actions
}

/// The label of each end, with the points where the flow ends there.
fn ends<'g>(model: &Model<'g>) -> Vec<(&'g str, Vec<usize>)> {
    let mut ends: Vec<(&str, Vec<usize>)> = Vec::new();
    let mut by_label: HashMap<&str, usize> = HashMap::new();
    for (at, point) in model.points.kinds.iter().enumerate() {
        let Point::End(edge) = *point else { continue };
        let EdgeTarget::End(label) = &model.graph.edges[edge].to else {
            continue;
        };
        let end = *by_label.entry(label).or_insert(ends.len());
        if end == ends.len() {
            ends.push((label, Vec::new()));
        }
        ends[end].1.push(at);
    }
    ends
}

/// Returns `true` if the output has a value at each of these points. A key may hold the `Option`
/// that a node returned: it is written, and may still have no value.
fn is_certain(
    model: &Model<'_>,
    assignment: &mut Assignment<'_>,
    output: &Output,
    ends: &[usize],
) -> bool {
    let Some(key) = model.keys.get(&output.key) else {
        return false;
    };
    let wanted = options(&output.rust_type);
    let is_assigned = assignment.is_assigned(&key.written_at, ends);
    key.given || (is_assigned && !may_be_none(model, key, wanted))
}

/// Returns `true` if a value of the key may be an `Option` where this many are expected.
fn may_be_none(model: &Model<'_>, key: &Key<'_>, wanted: usize) -> bool {
    let mut seen = HashSet::from([key.name]);
    let mut waiting = vec![key];
    while let Some(key) = waiting.pop() {
        let writers = key.writers.iter().map(|&writer| model.graph.node(writer));
        let actions = writers.flat_map(|node| &node.actions);
        let mut writes = actions.flat_map(|action| &action.writes);
        if writes.any(|write| write.key == key.name && options(&write.rust_type) > wanted) {
            return true;
        }
        let sources = key.mapped_at.iter().map(|&(_, source)| source);
        waiting.extend(
            sources
                .filter(|source| seen.insert(source))
                .filter_map(|source| model.keys.get(source)),
        );
    }
    false
}

/// The keys that may be written when a run reaches one of these points.
fn written_before<'g>(model: &Model<'g>, ends: &[usize]) -> HashSet<&'g str> {
    let points = &model.points;
    let is_in_branch = |id| {
        let place = model.shape.place(id);
        let owner = place.map(|place| &model.graph.node(place.owner).kind);
        matches!(owner, Some(NodeKind::Fork(_) | NodeKind::Race(_)))
    };
    let inputs = model.graph.inputs.iter();
    let mut keys: HashSet<&str> = inputs.map(|input| input.key.as_str()).collect();
    let mut seen = vec![false; points.kinds.len()];
    let mut waiting = ends.to_vec();
    while let Some(at) = waiting.pop() {
        if std::mem::replace(&mut seen[at], true) {
            continue;
        }
        let action = match points.kinds[at] {
            // Values written inside a fork or a race that fails are discarded.
            Point::Failed(id) => {
                waiting.push(point_of(id));
                continue;
            }
            Point::Mapped(edge) => {
                let mappings = model.graph.edges[edge].mappings.iter();
                keys.extend(mappings.map(|mapping| mapping.key.as_str()));
                None
            }
            Point::Done(id) if is_in_branch(id) => model.graph.node(id).action(DEFAULT_ACTION),
            Point::Decided(id, action) => model.graph.node(id).actions.get(action),
            Point::Edge(edge) => match model.routes.edges[edge].effect {
                Effect::Action(id, action) => model.graph.node(id).actions.get(action),
                Effect::Failure => {
                    keys.insert(ERROR_KEY);
                    None
                }
                Effect::AnyAction(id) => {
                    let actions = model.graph.node(id).actions.iter();
                    let writes = actions.flat_map(|action| &action.writes);
                    keys.extend(writes.map(|write| write.key.as_str()));
                    None
                }
                Effect::Nothing | Effect::Everything => None,
            },
            _ => None,
        };
        let writes = action.into_iter().flat_map(|action| &action.writes);
        keys.extend(writes.map(|write| write.key.as_str()));
        waiting.extend(points.predecessors.of(at));
    }
    keys
}
