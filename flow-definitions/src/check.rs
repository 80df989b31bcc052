//! Checks a definition, and places the loader's problems in it.

use flow_loader::{LoadedFlow, Registry, load_document};
use flow_spec::{FlowDocument, Problem, did_you_mean};
use serde_json::{Map, Value};

use crate::configuration::{self, escaped};
use crate::definition::Content;
use crate::finding::Finding;

/// A definition that was checked.
pub(crate) struct Checked {
    /// The flow. `None` if there is an error.
    pub(crate) flow: Option<LoadedFlow>,
    pub(crate) findings: Vec<Finding>,
}

pub(crate) fn check(content: &Content, registry: &Registry) -> Checked {
    let mut findings = Vec::new();
    let loaded = FlowDocument::from_value(&content.flow).and_then(|mut document| {
        findings = configuration::apply(&content.configuration, &mut document);
        findings.extend(stray_positions(content, &document));
        load_document(&document, registry)
    });
    let flow = loaded.map_err(|problems| {
        let problems = problems.into_iter();
        let placed = problems.map(|problem| placed(problem, &content.configuration));
        findings.splice(0..0, placed.map(Finding::error));
    });
    Checked {
        flow: flow.ok(),
        findings,
    }
}

/// The warnings about positions of nodes that do not exist.
fn stray_positions(content: &Content, document: &FlowDocument) -> Vec<Finding> {
    let is_node = |id: &str| document.node(id).is_some();
    let stray = content.layout.keys().filter(|id| !is_node(id));
    let finding = |id: &String| {
        let nodes = document.nodes.iter().map(|node| node.id.as_str());
        Finding::names_nothing(
            format!("/layout/{}", escaped(id)),
            format!("the flow has no node `{id}`, so that its position has no effect"),
            did_you_mean(id, nodes),
        )
    };
    stray.map(finding).collect()
}

/// The problem of a flow, with pointers of the definition.
fn placed(mut problem: Problem, configuration: &Map<String, Value>) -> Problem {
    let configured = |pointer: &str| configuration::of_default(configuration, pointer);
    if configured(&problem.pointer).is_some() {
        let note = "a value of the configuration is the default of an input";
        problem.notes.push(note.to_owned());
    }
    let related = problem.related.iter_mut().map(|(pointer, _)| pointer);
    for pointer in related.chain([&mut problem.pointer]) {
        *pointer = match configured(pointer) {
            Some(name) => configuration::pointer(name),
            None => in_flow(pointer),
        };
    }
    problem
}

/// The pointer in the definition of a place in the flow.
pub(crate) fn in_flow(pointer: &str) -> String {
    format!("/flow{pointer}")
}
