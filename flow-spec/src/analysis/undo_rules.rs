//! Checks the rules of undo nodes, and of the steps `undo` and `commit`.

use std::collections::{HashMap, HashSet};

use super::found::Found;
use super::keys::Key;
use super::model::Model;
use super::undo::loop_around;
use super::words;
use crate::diagnostic::{Code, Diagnostic, Site};
use crate::graph::{DEFAULT_ACTION, EdgePart, EdgeSource, EdgeTarget, Graph, NodeId, NodeKind};

/// Reports nodes that cannot be undone or that cannot undo, and misplaced `undo` and `commit`.
pub(super) fn check(model: &Model<'_>, found: &mut Found) {
    let graph = model.graph;
    let mut pairs = Vec::new();
    for id in graph.node_ids() {
        let Some(undo) = graph.node(id).undo else {
            continue;
        };
        if let Some(diagnostic) = check_owner(model, id) {
            found.push(diagnostic);
        } else if let Some(diagnostic) = check_kind(graph, id, undo) {
            found.push(diagnostic);
        } else {
            pairs.push((id, undo));
        }
    }
    let first = first_taken_back(&pairs);
    for id in graph.node_ids() {
        if found.is_full() {
            return;
        }
        let Some(&owner) = first.get(&id) else {
            continue;
        };
        let parts = [
            check_place(model, owner, id),
            check_own_undo(graph, owner, id),
            check_actions(graph, owner, id),
            check_writes(model, owner, id),
        ];
        parts.into_iter().flatten().for_each(|one| found.push(one));
    }
    check_steps(model, found);
}

/// The first node that each undo node takes back. That an undo node has one itself is one mistake, so
/// what takes it back is not checked.
fn first_taken_back(pairs: &[(NodeId, NodeId)]) -> HashMap<NodeId, NodeId> {
    let undo_nodes: HashSet<NodeId> = pairs.iter().map(|&(_, undo)| undo).collect();
    let (others, steps): (Vec<_>, Vec<_>) =
        (pairs.iter().copied()).partition(|(id, _)| undo_nodes.contains(id));
    let mut first = HashMap::new();
    for (id, undo) in steps {
        first.entry(undo).or_insert(id);
    }
    // In a circle there are only undo nodes.
    for (id, undo) in others {
        if !first.contains_key(&id) {
            first.entry(undo).or_insert(id);
        }
    }
    first
}

/// Reports a node that cannot have an undo node.
fn check_owner(model: &Model<'_>, id: NodeId) -> Option<Diagnostic> {
    let graph = model.graph;
    let name = words::name(graph, id);
    if let Some(each) = loop_around(graph, &model.shape, id) {
        let message = format!(
            "`{name}` runs for each item of `{}`, so it cannot have an undo node",
            each.name
        );
        let diagnostic = Diagnostic::new(Code::Undo, Site::Undo(id), message);
        return Some(diagnostic.help(of_items(graph, id)));
    }
    let what = words::kind(graph, id)?;
    let help = match &graph.node(id).kind {
        NodeKind::Step => return None,
        NodeKind::Flow(flow) => {
            format!(
                "set `undo` at the steps inside `{flow}`: they are taken back with those of this flow"
            )
        }
        NodeKind::Fork(_) | NodeKind::Race(_) => {
            "set `undo` at the steps in its branches".to_owned()
        }
        NodeKind::Each { body, .. } => of_items(graph, *body),
        NodeKind::Branch | NodeKind::Wait => {
            "it changes nothing that could be taken back: remove this".to_owned()
        }
        NodeKind::Human => {
            "an answer cannot be taken back: set `undo` at the step that acts on it".to_owned()
        }
        NodeKind::Signal => {
            "a signal cannot be taken back: set `undo` at the step that acts on it".to_owned()
        }
        NodeKind::Undo | NodeKind::Commit => "remove this".to_owned(),
    };
    let message = format!("`{name}` is {what}, which cannot have an undo node");
    Some(Diagnostic::new(Code::Undo, Site::Undo(id), message).help(help))
}

/// The help for an undo node of the items of a loop with this body.
fn of_items(graph: &Graph, body: NodeId) -> String {
    let body = words::name(graph, body);
    let body = body.rsplit(['.', ':']).next().unwrap_or_default();
    format!(
        "make a flow of `{body}`, set `undo` at its step, and let the loop run that flow: then each item is taken back"
    )
}

/// Reports an undo node that does not exist, or that cannot take back a visit.
fn check_kind(graph: &Graph, owner: NodeId, undo: NodeId) -> Option<Diagnostic> {
    let report = |code, message| Some(Diagnostic::new(code, Site::Undo(owner), message));
    let name = words::name(graph, owner);
    if undo.0 >= graph.nodes.len() {
        let message = format!(
            "`{name}` is taken back by node number {}, which does not exist",
            undo.0
        );
        return report(Code::UnknownNode, message);
    }
    if undo == owner {
        let message = format!("`{name}` cannot take back itself");
        let diagnostic = report(Code::Undo, message)?;
        return Some(diagnostic.help("name the function or type that takes it back"));
    }
    let what = words::kind(graph, undo)?;
    let message = format!(
        "`{}` is {what}, which cannot take back `{name}`",
        words::name(graph, undo)
    );
    let diagnostic = report(Code::Undo, message)?;
    Some(diagnostic.help("name a function or a type: `undo = path::to::a_node`"))
}

/// Reports an undo node that is a step as well.
fn check_place(model: &Model<'_>, owner: NodeId, undo: NodeId) -> Option<Diagnostic> {
    let graph = model.graph;
    let (name, taken_back) = (words::name(graph, undo), words::name(graph, owner));
    let help = format!("declare another node of it for this place: `node {name}_step: …;`");
    if let Some(place) = model.shape.place(undo) {
        let around = words::name(graph, place.owner);
        let message = format!(
            "`{name}` takes back `{taken_back}`, so it cannot be a step in `{around}` as well"
        );
        let diagnostic = Diagnostic::new(Code::Undo, Site::Undo(owner), message);
        let text = format!("it is a step in `{around}` here");
        return Some(diagnostic.help(help).related(Site::Node(place.owner), text));
    }
    let site = graph.edges.iter().enumerate().find_map(|(at, edge)| {
        if edge.to == EdgeTarget::Node(undo) {
            Some(Site::Edge(at, EdgePart::To))
        } else if edge.from == EdgeSource::Node(undo) {
            Some(Site::Edge(at, EdgePart::From))
        } else {
            None
        }
    })?;
    let message = format!("`{name}` takes back `{taken_back}`, so it cannot be a step as well");
    let text = format!("it takes back `{taken_back}` here");
    Some(
        Diagnostic::new(Code::Undo, site, message)
            .help(help)
            .related(Site::Undo(owner), text),
    )
}

/// Reports an undo node that has an undo node.
fn check_own_undo(graph: &Graph, owner: NodeId, undo: NodeId) -> Option<Diagnostic> {
    graph.node(undo).undo?;
    let (name, taken_back) = (words::name(graph, undo), words::name(graph, owner));
    let message =
        format!("`{name}` takes back `{taken_back}`, so it cannot have an undo node itself");
    let text = format!("it takes back `{taken_back}` here");
    Some(
        Diagnostic::new(Code::Undo, Site::Undo(undo), message)
            .help("remove this")
            .related(Site::Undo(owner), text),
    )
}

/// Reports an undo node that decides between actions.
fn check_actions(graph: &Graph, owner: NodeId, undo: NodeId) -> Option<Diagnostic> {
    let mut actions = graph.node(undo).actions.iter();
    let action = actions.find(|action| action.name != DEFAULT_ACTION)?;
    let message = format!(
        "`{}` takes back `{}`, so its action \"{}\" leads nowhere",
        words::name(graph, undo),
        words::name(graph, owner),
        action.name
    );
    let help = "let it take no actions; an error that it returns says that it has failed";
    Some(Diagnostic::new(Code::Undo, Site::Undo(owner), message).help(help))
}

/// Reports a key that an undo node writes and that is used elsewhere.
fn check_writes(model: &Model<'_>, owner: NodeId, undo: NodeId) -> Option<Diagnostic> {
    let graph = model.graph;
    let mut writes = (graph.node(undo).actions.iter()).flat_map(|action| &action.writes);
    let (key, what, site) = writes.find_map(|write| {
        let key = model.keys.get(&write.key)?;
        let (what, site) = other_use(model, key, undo)?;
        Some((&write.key, what, site))
    })?;
    let name = words::name(graph, undo);
    let message = format!("`{name}` writes `{key}`, {what}: what an undo node writes is not kept");
    let help = format!(
        "let it return nothing, or map it to a key of its own: `node {name}: … {{ {key} -> {key}_2 }};`"
    );
    let diagnostic = Diagnostic::new(Code::Undo, Site::Undo(owner), message).help(help);
    Some(match site {
        Some(site) => diagnostic.related(site, format!("`{key}` is used here")),
        None => diagnostic,
    })
}

/// The use of a key that an undo node writes, in words and with its place.
fn other_use(model: &Model<'_>, key: &Key<'_>, undo: NodeId) -> Option<(String, Option<Site>)> {
    let graph = model.graph;
    if let Some(input) = key.input {
        let what = "which is an input of the flow".to_owned();
        return Some((what, Some(Site::Input(input))));
    }
    if key.output {
        let mut outputs = graph.outputs.iter();
        let at = outputs.position(|output| output.key == key.name);
        let what = "which is an output of the flow".to_owned();
        return Some((what, at.map(Site::Output)));
    }
    let mut readers = key.reads.iter().map(|&(id, _)| id);
    if let Some(reader) = readers.clone().find(|&id| id != undo) {
        let what = format!("which `{}` reads", words::name(graph, reader));
        return Some((what, Some(Site::Node(reader))));
    }
    let mut writers = key.writers.iter();
    if let Some(&writer) = writers.find(|&&id| id != undo) {
        let what = format!("which `{}` writes", words::name(graph, writer));
        return Some((what, Some(Site::Node(writer))));
    }
    if let Some(mapping) = key.mappings.first() {
        let site = Site::Edge(mapping.edge, EdgePart::Source(mapping.index));
        return Some(("which an edge reads".to_owned(), Some(site)));
    }
    let reads_itself = readers.any(|id| id == undo);
    reads_itself.then(|| ("which it reads itself".to_owned(), None))
}

/// Reports `undo` and `commit` where they cannot stand, or where nothing can be undone.
fn check_steps(model: &Model<'_>, found: &mut Found) {
    let graph = model.graph;
    let mut nodes = graph.nodes.iter();
    let is_undoable =
        nodes.any(|node| node.undo.is_some() || matches!(node.kind, NodeKind::Flow(_)));
    for id in graph.node_ids() {
        let (word, nothing) = match graph.node(id).kind {
            NodeKind::Undo => ("undo", "undo"),
            NodeKind::Commit => ("commit", "forget"),
            _ => continue,
        };
        if found.is_full() {
            return;
        }
        if let Some(place) = model.shape.place(id) {
            let (around, whole) = match graph.node(place.owner).kind {
                NodeKind::Race(_) => ("branch of a race", "race"),
                NodeKind::Each { .. } => ("loop over items", "loop"),
                _ => ("branch of a fork", "fork"),
            };
            let message = format!("`{word}` cannot stand in a {around}");
            let body = if whole == "loop" { "body" } else { "branch" };
            let help = format!("put it behind the {whole}, or make a flow of the {body}");
            found.push(Diagnostic::new(Code::ForkShape, Site::Node(id), message).help(help));
        } else if !is_undoable {
            let message = format!(
                "`{word}` has nothing to {nothing}: no node of this flow has an undo node, or is a flow"
            );
            let help = format!(
                "give a step its undo node, such as `node charge: … with undo = refund;`, or remove `{word}`"
            );
            found.push(Diagnostic::new(Code::Undo, Site::Node(id), message).help(help));
        }
    }
}
