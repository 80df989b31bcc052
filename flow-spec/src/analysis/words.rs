//! Parts of a flow, as its author would write them.

use crate::graph::{
    DEFAULT_ACTION, Edge, EdgeSource, EdgeTarget, Graph, NodeId, NodeKind, NodeRead, ReadMode,
};

/// The length above which a path is shown without its middle.
const LONGEST_PATH: usize = 16;

/// The node's name.
pub(super) fn name(graph: &Graph, id: NodeId) -> &str {
    graph.nodes.get(id.0).map_or("?", |node| node.name.as_str())
}

/// The kind of a node that is not a step: `a fork`.
pub(super) fn kind(graph: &Graph, id: NodeId) -> Option<&'static str> {
    Some(match &graph.nodes.get(id.0)?.kind {
        NodeKind::Step => return None,
        NodeKind::Flow(_) => "a flow",
        NodeKind::Fork(_) => "a fork",
        NodeKind::Race(_) => "a race",
        NodeKind::Each { .. } => "a loop over items",
        NodeKind::Branch => "a branch",
        NodeKind::Wait => "a pause",
        NodeKind::Undo | NodeKind::Commit => "a step of the language",
        NodeKind::Human => "a human node",
        NodeKind::Signal => "a signal",
    })
}

/// `end` or `end("label")` or a node's name.
pub(super) fn target(graph: &Graph, to: &EdgeTarget) -> String {
    match to {
        EdgeTarget::Node(id) => name(graph, *id).to_owned(),
        EdgeTarget::End(label) if label == DEFAULT_ACTION => "end".to_owned(),
        EdgeTarget::End(label) => format!("end(\"{label}\")"),
    }
}

/// `start` or a node's name.
pub(super) fn source<'a>(graph: &'a Graph, from: &EdgeSource) -> &'a str {
    match from {
        EdgeSource::Start => "start",
        EdgeSource::Node(id) => name(graph, *id),
    }
}

/// `review - "rejected" >> notify`, or `pay >> end` without an action.
pub(super) fn step(from: &str, action: &str, to: &str) -> String {
    if action == DEFAULT_ACTION {
        format!("{from} >> {to}")
    } else {
        format!("{from} - \"{action}\" >> {to}")
    }
}

/// The edges one after the other: `start >> review - "rejected" >> notify`.
pub(super) fn path(graph: &Graph, edges: &[usize]) -> String {
    let edges: Vec<&Edge> = edges
        .iter()
        .filter_map(|&edge| graph.edges.get(edge))
        .collect();
    let Some(first) = edges.first() else {
        return String::new();
    };
    let mut text = source(graph, &first.from).to_owned();
    let hidden = if edges.len() > LONGEST_PATH {
        4..edges.len() - 4
    } else {
        0..0
    };
    for (at, edge) in edges.iter().enumerate() {
        if hidden.contains(&at) {
            if at == hidden.start {
                text.push_str(" >> …");
            }
            continue;
        }
        if let Some(action) = edge.action.as_ref().filter(|_| at != hidden.end || at == 0) {
            text.push_str(&format!(" - \"{action}\""));
        }
        text.push_str(" >> ");
        text.push_str(&target(graph, &edge.to));
    }
    text
}

/// The edges one after the other, without the target of the last one: `start >> review - "rejected"`.
pub(super) fn path_out(graph: &Graph, edges: &[usize]) -> String {
    let Some((&last, before)) = edges.split_last() else {
        return String::new();
    };
    let mut text = path(graph, before);
    if let Some(action) = graph.edges.get(last).and_then(|edge| edge.action.as_ref()) {
        text.push_str(&format!(" - \"{action}\""));
    }
    text
}

/// `"approved", "rejected"`: at most eight of the names.
pub(super) fn quoted<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let names: Vec<&str> = names.into_iter().collect();
    let mut text: Vec<String> = names
        .iter()
        .take(8)
        .map(|name| format!("\"{name}\""))
        .collect();
    if names.len() > 8 {
        text.push(format!("and {} more", names.len() - 8));
    }
    text.join(", ")
}

/// The type of an owned value, given a reader's type: `String` for `&str`.
pub(super) fn owned_type(rust_type: &str) -> String {
    let borrowed = rust_type.trim();
    match borrowed {
        "str" => "String".to_owned(),
        "Path" => "PathBuf".to_owned(),
        _ => match borrowed
            .strip_prefix('[')
            .and_then(|rest| rest.strip_suffix(']'))
        {
            Some(item) if !item.contains(';') => format!("Vec<{item}>"),
            _ => borrowed.to_owned(),
        },
    }
}

/// The help for a key that may be missing where it is read: up to three ways, depending on the
/// reader.
pub(super) fn supply(graph: &Graph, reader: NodeId, read: &NodeRead) -> String {
    let key = &read.key;
    let owned = owned_type(&read.rust_type);
    let input = if owned.is_empty() {
        "add it to the flow's inputs".to_owned()
    } else {
        format!("add it to the flow's inputs: `{key}: {owned}`")
    };
    match optional(graph, reader, read) {
        Some(optional) => format!("write `{key}` before, {optional}, or {input}"),
        None => format!("write `{key}` before, or {input}"),
    }
}

/// The declaration with which this reader allows the key to be missing. `None` if it cannot.
pub(super) fn optional(graph: &Graph, reader: NodeId, read: &NodeRead) -> Option<String> {
    match &graph.nodes.get(reader.0)?.kind {
        NodeKind::Flow(flow) => {
            let owned = owned_type(&read.rust_type);
            let owned = if owned.is_empty() { "_" } else { &owned };
            Some(format!(
                "declare it in `{flow}` as `{}: Option<{owned}>`",
                read.key
            ))
        }
        NodeKind::Step => Some(match (read.mode, read.rust_type.is_empty()) {
            (_, true) => "read it as an `Option`".to_owned(),
            (ReadMode::Borrow, _) => format!("read it as `Option<&{}>`", read.rust_type),
            (ReadMode::Take, _) => format!("read it as `Option<{}>`", read.rust_type),
        }),
        NodeKind::Fork(_)
        | NodeKind::Race(_)
        | NodeKind::Each { .. }
        | NodeKind::Branch
        | NodeKind::Wait
        | NodeKind::Undo
        | NodeKind::Commit
        | NodeKind::Human
        | NodeKind::Signal => None,
    }
}
