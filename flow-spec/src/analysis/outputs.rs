//! Checks that every `end` has the outputs that the flow declares.

use std::collections::HashSet;

use super::assignment::Assignment;
use super::found::Found;
use super::keys::Key;
use super::model::Model;
use super::points::Point;
use super::reads::{explain, is_left_to_others};
use super::routes::Target;
use super::suggestions::{Suggestions, exists};
use super::words;
use crate::diagnostic::{Code, Diagnostic, Site};
use crate::graph::{ERROR_KEY, EdgePart, Graph, Node, NodeKind};
use crate::suggest::question_of_name;

/// Reports the outputs that are not keys of the flow.
pub(super) fn check_names(model: &Model<'_>, suggestions: &Suggestions<'_>, found: &mut Found) {
    let mut ends = model.routes.edges.iter();
    // The end's mapping may have been meant to write it.
    if ends.any(|route| route.to == Target::End && route.maps_unread) {
        return;
    }
    for (at, output) in model.graph.outputs.iter().enumerate() {
        let is_written = |key: &Key<'_>| exists(key) || key.by_undo;
        if output.key == ERROR_KEY || model.keys.get(&output.key).is_none_or(is_written) {
            continue;
        }
        let message = format!("nothing writes the output `{}`", output.key);
        let help = match suggestions.of(&output.key) {
            _ if let Some(written) = written_by(model.graph, &output.key) => {
                format!(
                    "what `{}` returns is written as `{written}`: name the output so",
                    output.key
                )
            }
            Some(near) => question_of_name(&output.key, near),
            None => format!(
                "let a node write it: `#[node(writes = {})]`, or remove it",
                output.key
            ),
        };
        found.push(Diagnostic::new(Code::NamesNothing, Site::Output(at), message).help(help));
    }
}

/// The only key that the node with this name writes, or the loop whose body has this name.
fn written_by<'g>(graph: &'g Graph, name: &str) -> Option<&'g str> {
    let is_body = |node: &Node| match &node.kind {
        NodeKind::Each { body, .. } => {
            let body = graph.nodes.get(body.0)?.name.rsplit_once('.')?;
            (body == (node.name.as_str(), name)).then_some(())
        }
        _ => None,
    };
    let mut nodes = graph.nodes.iter();
    let node = nodes.find(|node| node.name == name || is_body(node).is_some())?;
    let mut keys = node.actions.iter().flat_map(|action| &action.writes);
    let key = &keys.next()?.key;
    keys.all(|write| write.key == *key).then_some(key)
}

/// Reports the ends at which an output may be unwritten.
pub(super) fn check(
    model: &Model<'_>,
    reached: &[bool],
    assignment: &mut Assignment<'_>,
    found: &mut Found,
) {
    let ends: Vec<(usize, usize)> = model
        .points
        .kinds
        .iter()
        .enumerate()
        .filter_map(|(at, point)| {
            if let Point::End(edge) = point {
                Some((at, *edge))
            } else {
                None
            }
        })
        .collect();
    let asked: Vec<usize> = ends.iter().map(|&(at, _)| at).collect();
    let mut seen = HashSet::new();
    for (at, output) in model.graph.outputs.iter().enumerate() {
        let is_first = seen.insert(output.key.as_str());
        let Some(key) = model.keys.get(&output.key) else {
            continue;
        };
        if output.optional || key.given || key.name == ERROR_KEY || !exists(key) || !is_first {
            continue;
        }
        if is_left_to_others(model, key, reached) {
            continue;
        }
        for missing in assignment.unassigned(&key.written_at, &asked) {
            if found.is_full() {
                return;
            }
            let (_, edge) = ends[missing.asked];
            let path = words::path(model.graph, &missing.path);
            let message = format!("this end leaves the output `{}` unwritten", output.key);
            let declared = words::owned_type(&output.rust_type);
            let declared = if declared.is_empty() { "_" } else { &declared };
            let diagnostic = Diagnostic::new(
                Code::UnwrittenOutput,
                Site::Edge(edge, EdgePart::To),
                message,
            )
            .note(format!("this path does not write it: {path}"))
            .help(format!(
                "write `{key}` before, or declare it `{key}: Option<{declared}>`",
                key = output.key
            ))
            .related(Site::Output(at), "the output is declared here");
            found.push(explain(model, key, &missing.path, diagnostic));
        }
    }
}
