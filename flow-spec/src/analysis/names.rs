//! Checks for names that are reserved or taken, and for a flow that contains itself.

use std::collections::{HashMap, HashSet};

use super::found::Found;
use crate::diagnostic::{Code, Diagnostic, Site};
use crate::graph::{ERROR_ACTION, ERROR_KEY, EdgePart, EdgeTarget, Graph, Node, NodeId, NodeKind};
use crate::names::{RESERVED_NAMES, camel_case};

pub(super) fn check(graph: &Graph, found: &mut Found) {
    let inputs = graph
        .inputs
        .iter()
        .enumerate()
        .map(|(at, input)| (Site::Input(at), &input.key));
    signature("input", inputs, found);
    let outputs = graph
        .outputs
        .iter()
        .enumerate()
        .map(|(at, output)| (Site::Output(at), &output.key));
    signature("output", outputs, found);
    let mut names = HashMap::new();
    for id in graph.node_ids() {
        let node = graph.node(id);
        node_name(id, node, &mut names, found);
        actions_and_keys(id, node, found);
        if matches!(&node.kind, NodeKind::Flow(flow) if *flow == graph.name) {
            let message = format!("`{}` contains itself", graph.name);
            found.push(
                Diagnostic::new(Code::Recursion, Site::Node(id), message)
                    .help("lead an edge back to the step from which it has to run again"),
            );
        }
    }
    labels(graph, found);
}

/// Checks the labels of ends, each of which becomes a variant of an enum.
fn labels(graph: &Graph, found: &mut Found) {
    let mut variants: HashMap<String, (Site, &str)> = HashMap::new();
    let mut reported = HashSet::new();
    for (at, edge) in graph.edges.iter().enumerate() {
        let EdgeTarget::End(label) = &edge.to else {
            continue;
        };
        let site = Site::Edge(at, EdgePart::Label);
        if label == ERROR_ACTION {
            let message =
                format!("the label \"{ERROR_ACTION}\" is reserved for a flow that has failed");
            found.push(
                Diagnostic::new(Code::Name, site, message)
                    .help("call it something else, such as `end(\"failed\")`"),
            );
        }
        let variant = camel_case(label);
        let (first, same) = *variants.entry(variant.clone()).or_insert((site, label));
        if same != label && reported.insert(label) {
            let message = format!("the labels \"{same}\" and \"{label}\" are both `{variant}`");
            found.push(
                Diagnostic::new(Code::Name, site, message)
                    .help("write both alike, or name one of them otherwise")
                    .related(first, "the first one is here"),
            );
        }
    }
}

fn signature<'g>(what: &str, keys: impl Iterator<Item = (Site, &'g String)>, found: &mut Found) {
    let mut first: HashMap<&str, Site> = HashMap::new();
    for (site, key) in keys {
        if key == ERROR_KEY {
            found.push(reserved_key(site));
        }
        if let Some(&earlier) = first.get(key.as_str()) {
            let message = format!("the {what} `{key}` is declared twice");
            found.push(
                Diagnostic::new(Code::Name, site, message)
                    .help("remove one of them, or give it another name")
                    .related(earlier, "it is declared here already"),
            );
        } else {
            first.insert(key, site);
        }
    }
}

fn node_name<'g>(
    id: NodeId,
    node: &'g Node,
    names: &mut HashMap<&'g str, NodeId>,
    found: &mut Found,
) {
    if is_anonymous(node) {
        return;
    }
    let name = node.name.as_str();
    if RESERVED_NAMES.contains(&name) {
        let message = format!("a node cannot be called `{name}`, which is a word of the language");
        found.push(
            Diagnostic::new(Code::Name, Site::Node(id), message)
                .help(format!("give it another name: `node {name}_step: …;`")),
        );
    }
    if let Some(&earlier) = names.get(name) {
        let message = format!("a second node is called `{name}`");
        found.push(
            Diagnostic::new(Code::Name, Site::Node(id), message)
                .help(format!("give it another name: `node second_{name}: …;`"))
                .related(Site::Node(earlier), "the first one is here"),
        );
    } else {
        names.insert(name, id);
    }
}

/// Returns `true` if its author did not name it: a `wait(…)` or `[…]` in an edge.
fn is_anonymous(node: &Node) -> bool {
    let is_word = node
        .name
        .chars()
        .all(|letter| letter == '_' || letter.is_alphanumeric());
    match node.kind {
        NodeKind::Wait | NodeKind::Undo | NodeKind::Commit => true,
        NodeKind::Fork(_) => !is_word || node.name.is_empty(),
        _ => false,
    }
}

fn actions_and_keys(id: NodeId, node: &Node, found: &mut Found) {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for action in &node.actions {
        let count = counts.entry(&action.name).or_default();
        *count += 1;
        if *count == 2 {
            let message = format!("`{}` has two actions \"{}\"", node.name, action.name);
            found.push(
                Diagnostic::new(Code::Name, Site::Node(id), message)
                    .help("give one of them another name"),
            );
        }
    }
    if let NodeKind::Race(branches) = &node.kind
        && (branches.iter()).any(|branch| branch.action.as_deref() == Some(ERROR_ACTION))
    {
        let message = format!(
            "`{}` takes \"{ERROR_ACTION}\" if a branch fails, so no branch has this action",
            node.name
        );
        found.push(
            Diagnostic::new(Code::Name, Site::Node(id), message).help("give it another name"),
        );
    }
    let mut writes = node.actions.iter().flat_map(|action| &action.writes);
    if writes.any(|write| write.key == ERROR_KEY) {
        let mut diagnostic = reserved_key(Site::Node(id));
        diagnostic.message = format!(
            "`{}` writes `{ERROR_KEY}`, which is reserved for the failed node's error",
            node.name
        );
        found.push(diagnostic);
    }
}

/// Reports the key `error` where something else would write it.
pub(super) fn reserved_key(site: Site) -> Diagnostic {
    let message = format!("`{ERROR_KEY}` is reserved for the failed node's error");
    Diagnostic::new(Code::Name, site, message).help("use another key, such as `problem`")
}
