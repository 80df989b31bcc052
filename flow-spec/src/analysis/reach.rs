//! Checks that `start` leads to every node.

use super::components::Components;
use super::found::Found;
use super::model::Model;
use super::points::{Point, START, point_of};
use super::routes::Source;
use super::words;
use crate::diagnostic::{Code, Diagnostic, Site};
use crate::graph::{ERROR_ACTION, ERROR_KEY, NodeId};

/// The points to which `start` leads.
pub(super) fn reached(model: &Model<'_>) -> Vec<bool> {
    model.points.successors.reach([START])
}

/// Reports each part of the flow to which `start` does not lead, at the node where the part begins.
pub(super) fn check(
    model: &Model<'_>,
    components: &Components,
    reached: &[bool],
    found: &mut Found,
) {
    // Everything that leads to an unreached point is unreached too. Such a part begins at a
    // component into which nothing leads.
    let mut led_to = vec![false; components.count()];
    for at in (0..reached.len()).filter(|&at| !reached[at]) {
        for &next in model.points.successors.of(at) {
            if components.of(next) != components.of(at) {
                led_to[components.of(next)] = true;
            }
        }
    }
    for id in model.graph.node_ids() {
        if found.is_full() {
            return;
        }
        let component = components.of(point_of(id));
        if model.undos.is_undo(id) {
            continue;
        }
        let begins = !reached[point_of(id)] && !std::mem::replace(&mut led_to[component], true);
        if begins && !has_taken_name(model, id) {
            found.push(unreachable(model, id));
        }
    }
}

/// Returns `true` if edges cannot name the node because an earlier one has its name, which is
/// reported already.
fn has_taken_name(model: &Model<'_>, id: NodeId) -> bool {
    let name = words::name(model.graph, id);
    let mut earlier = model.graph.nodes[..id.0].iter();
    !model.routes.mentioned[id.0] && earlier.any(|node| node.name == name)
}

fn unreachable(model: &Model<'_>, id: NodeId) -> Diagnostic {
    let name = words::name(model.graph, id);
    let message = if !model.routes.mentioned[id.0] {
        format!("`{name}` is declared but no edge leads to it")
    } else if model.points.predecessors.of(point_of(id)).is_empty() {
        format!("no edge leads to `{name}`")
    } else {
        format!("no path leads from `start` to `{name}`")
    };
    let reads_error = model
        .graph
        .node(id)
        .reads
        .iter()
        .any(|read| read.key == ERROR_KEY);
    let failing = model.graph.node_ids().find(|&other| {
        let is_routed = model
            .routes
            .edges
            .iter()
            .any(|edge| edge.from == Source::Failed(other));
        let is_used = model.routes.mentioned[other.0] && model.shape.place(other).is_none();
        other != id && is_used && model.graph.node(other).fallible && !is_routed
    });
    let failing = failing
        .filter(|_| reads_error)
        .map(|other| (other, ERROR_ACTION));
    let help = match failing.or_else(|| free_action(model, id)) {
        Some((before, action)) => {
            let edge = words::step(words::name(model.graph, before), action, name);
            format!("lead an edge to it, such as `{edge};`, or remove it")
        }
        None => "lead an edge to it from the step before it, or remove it".to_owned(),
    };
    let mut diagnostic = Diagnostic::new(Code::Unreachable, Site::Node(id), message).help(help);
    let circle = circle(model, point_of(id));
    if !circle.is_empty() {
        diagnostic = diagnostic.note(format!(
            "only its own loop leads to it: {}",
            words::path(model.graph, &circle)
        ));
    }
    diagnostic
}

/// An action of another node that is not routed yet.
fn free_action<'g>(model: &Model<'g>, id: NodeId) -> Option<(NodeId, &'g str)> {
    let is_used = |other: &NodeId| {
        *other != id && model.routes.mentioned[other.0] && model.shape.place(*other).is_none()
    };
    model.graph.node_ids().filter(is_used).find_map(|other| {
        let free = model.routes.routed[other.0]
            .iter()
            .position(Option::is_none)?;
        Some((other, model.graph.node(other).actions[free].name.as_str()))
    })
}

/// The edges of a shortest loop through a point, if there is one.
pub(super) fn circle(model: &Model<'_>, at: usize) -> Vec<usize> {
    let mut before = vec![None; model.points.kinds.len()];
    let mut waiting = std::collections::VecDeque::from([at]);
    while let Some(point) = waiting.pop_front() {
        for &next in model.points.successors.of(point) {
            if before[next].is_none() {
                before[next] = Some(point);
                waiting.push_back(next);
            }
        }
        if before[at].is_some() {
            break;
        }
    }
    let mut edges = Vec::new();
    let mut point = at;
    while let Some(earlier) = before[point] {
        if let Point::Edge(edge) = model.points.kinds[point] {
            edges.push(edge);
        }
        point = earlier;
        if point == at {
            break;
        }
    }
    edges.reverse();
    edges
}
