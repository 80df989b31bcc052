//! Checks that every node can still reach an `end`.

use super::components::Components;
use super::found::Found;
use super::model::Model;
use super::points::Point;
use super::reach::circle;
use super::words;
use crate::diagnostic::{Code, Diagnostic, Site};
use crate::graph::{DEFAULT_ACTION, NodeId};

/// Reports each loop that cannot be left, once.
pub(super) fn check(
    model: &Model<'_>,
    components: &Components,
    reached: &[bool],
    found: &mut Found,
) {
    let points = &model.points;
    let ending = points.predecessors.reach(points.finals.iter().copied());
    // A trapped point leads only to trapped points. The trap itself is the part with no way out.
    let mut excused = vec![false; components.count()];
    for at in 0..reached.len() {
        let leads_out = points
            .successors
            .of(at)
            .iter()
            .any(|&next| components.of(next) != components.of(at) && !takes_back(model, next));
        if leads_out || points.unclear[at] || is_unrouted(model, points.kinds[at]) {
            excused[components.of(at)] = true;
        }
    }
    for id in model.graph.node_ids() {
        if found.is_full() {
            return;
        }
        let at = points.exit(id);
        let is_step = model.shape.place(id).is_none() && !model.undos.is_undo(id);
        let trapped = is_step && reached[at] && !ending[at];
        if trapped && !std::mem::replace(&mut excused[components.of(at)], true) {
            found.push(no_end(model, components, id));
        }
    }
}

/// Returns `true` if an undo node is reached at this point. A run does not pass it.
fn takes_back(model: &Model<'_>, at: usize) -> bool {
    matches!(model.points.kinds[at], Point::Node(id) if model.undos.is_undo(id))
}

/// Returns `true` if the node that is done at this point has an action without an edge, which is
/// reported already.
fn is_unrouted(model: &Model<'_>, point: Point) -> bool {
    let (Point::Node(id) | Point::Done(id)) = point else {
        return false;
    };
    model.shape.place(id).is_none() && model.routes.routed[id.0].iter().any(Option::is_none)
}

fn no_end(model: &Model<'_>, components: &Components, id: NodeId) -> Diagnostic {
    let graph = model.graph;
    let message = format!(
        "no path leads from `{}` to an `end`",
        words::name(graph, id)
    );
    let diagnostic = Diagnostic::new(Code::NoEnd, Site::Node(id), message);
    let circle = circle(model, model.points.exit(id));
    if circle.is_empty() {
        let fixed = words::step(words::name(graph, id), DEFAULT_ACTION, "end");
        return diagnostic.help(format!("lead it somewhere, such as `{fixed};`"));
    }
    let component = components.of(model.points.exit(id));
    let mut inside = graph
        .node_ids()
        .filter(|&id| components.of(model.points.exit(id)) == component);
    let help = match inside.find(|&id| graph.node(id).actions.len() > 1) {
        Some(chooser) => {
            let node = graph.node(chooser);
            let action = &node.actions[node.actions.len() - 1].name;
            format!(
                "lead an action out of it, such as `{};`",
                words::step(&node.name, action, "end")
            )
        }
        None => "let a node of the loop choose between two actions, one of which leads out of it"
            .to_owned(),
    };
    diagnostic
        .note(format!(
            "this loop has no way out: {}",
            words::path(graph, &circle)
        ))
        .help(help)
}
