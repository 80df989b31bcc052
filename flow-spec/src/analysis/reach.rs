//! Whether `start` leads to every node.

use super::Model;
use super::components::Components;
use super::points::{Point, START, point_of};
use super::words;
use crate::diagnostic::{Code, Diagnostic, Site};
use crate::graph::NodeId;

/// Which points `start` leads to.
pub(super) fn reached(model: &Model<'_>) -> Vec<bool> {
    model.points.successors.reach([START])
}

/// Reports the nodes at which the parts of the flow begin that `start` does not lead to.
pub(super) fn check(
    model: &Model<'_>,
    components: &Components,
    reached: &[bool],
    found: &mut Vec<Diagnostic>,
) {
    // Whatever leads to an unreached point is unreached too: such a part begins where nothing leads in.
    let mut led_to = vec![false; components.count()];
    for at in (0..reached.len()).filter(|&at| !reached[at]) {
        for &next in model.points.successors.of(at) {
            if components.of(next) != components.of(at) {
                led_to[components.of(next)] = true;
            }
        }
    }
    for id in model.graph.node_ids() {
        let component = components.of(point_of(id));
        if !reached[point_of(id)] && !std::mem::replace(&mut led_to[component], true) {
            found.push(unreachable(model, id));
        }
    }
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
    let mut diagnostic = Diagnostic::new(Code::Unreachable, Site::Node(id), message).help(format!(
        "lead an edge to it, such as `start >> {name};`, or remove it"
    ));
    let circle = circle(model, point_of(id));
    if !circle.is_empty() {
        diagnostic = diagnostic.note(format!(
            "only its own loop leads to it: {}",
            words::path(model.graph, &circle)
        ));
    }
    diagnostic
}

/// The edges of a shortest loop through a point, if it is on one.
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
