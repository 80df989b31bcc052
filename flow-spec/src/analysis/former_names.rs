//! Checks the former names of nodes: the setting `was`.
//!
//! A stored step is found by its name, so a former name belongs to one node, and to one whose name
//! is part of the names of steps.

use std::collections::HashMap;

use super::found::Found;
use super::model::Model;
use super::words;
use crate::diagnostic::{Code, Diagnostic, Site};
use crate::graph::{NodeId, NodeKind};
use crate::names::{RESERVED_NAMES, is_node_name};

pub(super) fn check(model: &Model<'_>, found: &mut Found) {
    let graph = model.graph;
    let mut first: HashMap<&str, NodeId> = HashMap::new();
    for id in graph.node_ids() {
        let Some(was) = &graph.node(id).was else {
            continue;
        };
        let problem = nameless(model, id)
            .or_else(|| not_a_name(model, id, was))
            .or_else(|| of_another(model, id, was));
        if let Some(problem) = problem {
            found.push(problem);
        } else if let Some(&earlier) = first.get(was.as_str()) {
            let (name, other) = (words::name(graph, id), words::name(graph, earlier));
            let message = format!("`{name}` and `{other}` cannot both have been `{was}`");
            found.push(
                Diagnostic::new(Code::Name, Site::Was(id), message)
                    .help(format!(
                        "keep `was` at the one that does what `{was}` did, and remove the other"
                    ))
                    .related(Site::Was(earlier), "the first one is here"),
            );
        } else {
            first.insert(was, id);
        }
    }
}

/// Reports a node whose own name is not part of the names of steps.
fn nameless(model: &Model<'_>, id: NodeId) -> Option<Diagnostic> {
    let graph = model.graph;
    let name = words::name(graph, id);
    let problem = |message, help| {
        Some(Diagnostic::new(Code::NamesNothing, Site::Was(id), message).help(help))
    };
    let around = model.shape.place(id).map(|place| place.owner);
    let each = around.filter(|id| matches!(graph.node(*id).kind, NodeKind::Each { .. }));
    if let Some(each) = each {
        let each = words::name(graph, each);
        let message = format!(
            "`was` does nothing for `{name}`: its steps have the name of the loop `{each}`"
        );
        return problem(
            message,
            format!("remove it, or give it to `{each}` if the loop had another name"),
        );
    }
    if model.undos.is_undo(id) {
        let taken_back = model.undos.taken_back(id).first();
        let taken_back = taken_back.map_or("?", |id| words::name(graph, *id));
        let message = format!(
            "`was` does nothing for `{name}`: its steps have the name of `{taken_back}`, which it takes back"
        );
        return problem(message, "remove it".to_owned());
    }
    None
}

/// Reports a text that was never the name of a node.
fn not_a_name(model: &Model<'_>, id: NodeId, was: &str) -> Option<Diagnostic> {
    let name = words::name(model.graph, id);
    let problem = |code, message| {
        Some(Diagnostic::new(code, Site::Was(id), message).help(
            "write the name that the node had in the flow, such as `was = \"quote\"`, or remove it",
        ))
    };
    if was.is_empty() {
        return problem(
            Code::Malformed,
            format!("the former name of `{name}` is empty"),
        );
    }
    if RESERVED_NAMES.contains(&was) {
        return problem(
            Code::Name,
            format!("no node was called `{was}`, which is a word of the language"),
        );
    }
    if !is_node_name(was) {
        return problem(
            Code::Malformed,
            format!("no node was called `{was}`, which is not a name"),
        );
    }
    None
}

/// Reports a name that a node of the flow has.
fn of_another(model: &Model<'_>, id: NodeId, was: &str) -> Option<Diagnostic> {
    let graph = model.graph;
    let name = words::name(graph, id);
    if name == was {
        let message = format!("`{name}` has this name now, so it was not renamed");
        return Some(
            Diagnostic::new(Code::Name, Site::Was(id), message)
                .help("remove `was`, or write the name that the node had before"),
        );
    }
    let mut others = graph.node_ids().filter(|other| *other != id);
    let other = others.find(|other| graph.node(*other).name == was)?;
    let message = format!("`{name}` cannot have been `{was}`, which another node is called");
    Some(
        Diagnostic::new(Code::Name, Site::Was(id), message)
            .help(format!(
                "steps that are stored under `{was}` belong to that node: remove `was`, or name that node otherwise"
            ))
            .related(Site::Node(other), format!("`{was}` is here")),
    )
}
