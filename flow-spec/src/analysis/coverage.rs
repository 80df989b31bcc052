//! Checks that every action of every node leads somewhere, and only to one place.

use std::collections::HashSet;

use super::found::Found;
use super::model::Model;
use super::routes::{Effect, Source};
use super::words;
use crate::diagnostic::{Code, Diagnostic, Site};
use crate::graph::{DEFAULT_ACTION, ERROR_ACTION, Edge, EdgePart, EdgeTarget, NodeId, NodeKind};

/// Reports the actions that no edge routes.
pub(super) fn unrouted(model: &Model<'_>, found: &mut Found) {
    for id in model.graph.node_ids() {
        if model.shape.place(id).is_some()
            || !model.routes.mentioned[id.0]
            || model.routes.left_from_inside.contains(&Source::Node(id))
        {
            continue;
        }
        let node = model.graph.node(id);
        let mut seen = HashSet::new();
        for (at, action) in node.actions.iter().enumerate() {
            let is_first = seen.insert(action.name.as_str());
            if model.routes.routed[id.0][at].is_some() || !is_first {
                continue;
            }
            let message = if action.name == DEFAULT_ACTION {
                format!("`{}` leads nowhere", node.name)
            } else {
                format!("action \"{}\" of `{}` goes nowhere", action.name, node.name)
            };
            let help = match node.kind {
                // A second mention would be a second step.
                NodeKind::Undo | NodeKind::Commit => {
                    format!(
                        "continue the edge that leads to it: `>> {} >> end;`",
                        node.name
                    )
                }
                _ => {
                    let fixed = words::step(&node.name, &action.name, "end");
                    format!("say where it goes, such as `{fixed};`")
                }
            };
            found.push(Diagnostic::new(Code::UnroutedAction, Site::Node(id), message).help(help));
        }
    }
}

/// Reports the second and every further edge for the same action of a node.
pub(super) fn twice(model: &Model<'_>, found: &mut Found) {
    let mut first_error: Vec<Option<usize>> = vec![None; model.graph.nodes.len()];
    for (at, edge) in model.graph.edges.iter().enumerate() {
        let (id, first) = match model.routes.edges[at].effect {
            // An edge for a misspelt action is only reported as such.
            Effect::Action(id, action)
                if model.graph.node(id).actions[action].name == edge.action() =>
            {
                (id, model.routes.routed[id.0][action])
            }
            Effect::Failure if edge.action() == ERROR_ACTION => {
                let (Source::Node(id) | Source::Failed(id)) = model.routes.edges[at].from else {
                    continue;
                };
                (id, Some(*first_error[id.0].get_or_insert(at)))
            }
            _ => continue,
        };
        if let Some(first) = first.filter(|&first| first != at) {
            found.push(second_edge(
                model,
                id,
                (first, &model.graph.edges[first]),
                (at, edge),
            ));
        }
    }
}

fn second_edge(
    model: &Model<'_>,
    id: NodeId,
    first: (usize, &Edge),
    second: (usize, &Edge),
) -> Diagnostic {
    let name = words::name(model.graph, id);
    let action = second.1.action();
    let (left, right) = (
        words::target(model.graph, &first.1.to),
        words::target(model.graph, &second.1.to),
    );
    let what = if action == DEFAULT_ACTION {
        format!("`{name}` leads")
    } else {
        format!("action \"{action}\" of `{name}` goes")
    };
    let (message, help) = match (&first.1.to, &second.1.to) {
        (left_to, right_to) if left_to == right_to => (
            format!("{what} to `{left}` already: this edge stands here twice"),
            "remove one of them".to_owned(),
        ),
        (EdgeTarget::Node(left_id), EdgeTarget::Node(right_id)) => {
            let join = join(model, *left_id, *right_id);
            let fork = words::step(name, action, &format!("[{left}, {right}] >> {join}"));
            (
                format!("{what} to two places: to `{left}` and to `{right}`"),
                format!("to run both at the same time, write `{fork}`; else remove one of them"),
            )
        }
        (EdgeTarget::Node(_), _) | (_, EdgeTarget::Node(_)) if action == DEFAULT_ACTION => (
            format!("{what} to two places: to `{left}` and to `{right}`"),
            format!(
                "remove one of them; or, to run `{name}` twice, declare it once more under another name"
            ),
        ),
        _ => (
            format!("{what} to two places: to `{left}` and to `{right}`"),
            "remove one of them".to_owned(),
        ),
    };
    Diagnostic::new(
        Code::DuplicateEdge,
        Site::Edge(second.0, EdgePart::Action),
        message,
    )
    .help(help)
    .related(
        Site::Edge(first.0, EdgePart::Action),
        "it is routed here already",
    )
}

/// The place where both continue, if it is the same.
fn join(model: &Model<'_>, left: NodeId, right: NodeId) -> String {
    let next = |id: NodeId| {
        let routed = model.routes.routed.get(id.0)?;
        let [edge] = routed[..] else { return None };
        Some(&model.graph.edges[edge?].to)
    };
    match (next(left), next(right)) {
        (Some(left), Some(right)) if left == right => words::target(model.graph, left),
        _ => "…".to_owned(),
    }
}
