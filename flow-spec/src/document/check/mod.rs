//! Checks that a flow is sound: the analysis of `flow!`, with its findings at JSON pointers.

mod branch;
mod does_nothing;
mod graph;
mod keywords;
mod mappings;
mod place;
mod race;
mod signal;
mod signature;
mod undo;
mod uses;
mod wording;

use crate::analysis::{Compared, check, check_types};
use crate::diagnostic::{Code, Diagnostic, Site};
use crate::graph::{Action, Graph};

use super::problem::{Problem, Problems, inside};
use super::{FlowDocument, NodeDocument};

impl FlowDocument {
    /// Checks that the flow and every flow inside it is sound, and returns all problems. After
    /// [`MOST_PROBLEMS`](super::MOST_PROBLEMS), the list ends with a note that there are more.
    ///
    /// This is the analysis of `flow!`, with the same reports; types are compared by their spelling
    /// ([`check_types`]). A document that a program has put together is first read as by
    /// [`parse`](FlowDocument::parse).
    ///
    /// If a node [is left open](NodeDocument::is_left_open), the check ignores whether the
    /// values of its flow are written and read.
    pub fn check(&self) -> Vec<Problem> {
        let misread = self.misread();
        if !misread.is_empty() {
            return misread;
        }
        let mut problems = Problems::default();
        check_level(self, "", &mut Vec::new(), &mut problems);
        signal::check_types(self, &mut problems);
        problems.into_vec()
    }

    /// Returns the flow itself as a graph, without its inner flows. All reads are borrows, because
    /// moves matter only in Rust code.
    ///
    /// # Errors
    ///
    /// The problems that [`parse`](FlowDocument::parse) would report, and nodes that write two
    /// values under one key.
    pub fn graph(&self) -> Result<Graph, Vec<Problem>> {
        let misread = self.misread();
        if !misread.is_empty() {
            return Err(misread);
        }
        let mut problems = Problems::default();
        let graph = graph::Places::new(self, "").graph(&mut problems);
        if problems.is_empty() {
            Ok(graph)
        } else {
            Err(problems.into_vec())
        }
    }

    /// Returns the outputs that the flow writes at each of its ends, like [`CheckedGraph::ends`].
    /// `None` if the flow itself has problems.
    ///
    /// [`CheckedGraph::ends`]: crate::CheckedGraph::ends
    pub fn written_at_ends(&self) -> Option<Vec<Action>> {
        let checked = check(self.graph().ok()?).ok()?;
        Some(checked.ends().to_vec())
    }

    /// The problems of reading it.
    fn misread(&self) -> Vec<Problem> {
        let value = serde_json::to_value(self).unwrap_or_else(super::flow::never);
        FlowDocument::from_value(&value).err().unwrap_or_default()
    }
}

/// Checks a flow and the flows inside it. Returns the outputs at its ends, if it is sound.
fn check_level<'a>(
    flow: &'a FlowDocument,
    pointer: &str,
    around: &mut Vec<&'a FlowDocument>,
    problems: &mut Problems,
) -> Option<Vec<Action>> {
    if problems.is_full() {
        return None;
    }
    if let Some(problem) = recursion(flow, pointer, around) {
        problems.push(problem);
        return None;
    }
    let places = graph::Places::new(flow, pointer);
    let before = problems.len();
    check_schemas(flow, pointer, problems);
    let graph = places.graph(problems);
    let mut ends = None;
    if problems.len() == before {
        let mut found = check_types(&graph, Compared::Named);
        let is_open = flow.nodes.iter().any(NodeDocument::is_left_open);
        match check(graph) {
            Ok(checked) => ends = (!is_open).then(|| checked.ends().to_vec()),
            Err(others) => found.extend(others),
        }
        found.retain(|diagnostic| !(is_open && is_about_ports(diagnostic)));
        found.sort_by_key(|diagnostic| diagnostic.site);
        problems.extend(found.into_iter().map(|one| places.problem(one)));
    }
    around.push(flow);
    for (index, node) in flow.nodes.iter().enumerate() {
        let pointer = inside(&inside(pointer, "nodes"), index);
        branch::check(node, &pointer, problems);
        race::check(&places, node, &pointer, problems);
        does_nothing::check(node, &pointer, problems);
        signal::check(node, &pointer, problems);
        undo::check(node, &pointer, problems);
        if let Some(inner) = &node.internal_flow {
            if !node.is_left_open() {
                signature::check(node, inner, &pointer, problems);
            }
            let written = check_level(inner, &inside(&pointer, "internalFlow"), around, problems);
            if let Some(written) = written {
                signature::check_writes(node, inner, &written, &pointer, problems);
            }
        }
    }
    around.pop();
    ends
}

/// Checks the schemas of all values that a flow and its nodes read and write.
fn check_schemas(flow: &FlowDocument, pointer: &str, problems: &mut Problems) {
    let nodes = flow.nodes.iter().enumerate();
    let nodes = nodes.map(|(index, node)| {
        let pointer = inside(&inside(pointer, "nodes"), index);
        (pointer, &node.inputs, &node.outputs)
    });
    let flow = [(pointer.to_owned(), &flow.inputs, &flow.outputs)];
    for (pointer, inputs, outputs) in flow.into_iter().chain(nodes) {
        if problems.is_full() {
            return;
        }
        keywords::check(inputs, &inside(&pointer, "inputs"), problems);
        keywords::check(outputs, &inside(&pointer, "outputs"), problems);
    }
}

/// Returns `true` if the mistake may result from a node that does not list its reads and writes.
fn is_about_ports(diagnostic: &Diagnostic) -> bool {
    match diagnostic.code {
        Code::UnassignedRead | Code::UnwrittenOutput | Code::UnusedInput => true,
        Code::NamesNothing => matches!(diagnostic.site, Site::Output(_) | Site::Edge(..)),
        _ => false,
    }
}

/// Reports a flow that contains itself. Two flows are different if their names or namespaces
/// differ.
fn recursion(flow: &FlowDocument, pointer: &str, around: &[&FlowDocument]) -> Option<Problem> {
    let is_it =
        |outer: &&&FlowDocument| outer.namespace == flow.namespace && outer.name == flow.name;
    around
        .iter()
        .find(is_it)
        .filter(|_| !flow.title().is_empty())?;
    let message = format!(
        "the flow `{}` contains itself: a flow around it has the same name and namespace",
        flow.title()
    );
    let help = "if it is another flow, give it the namespace of the node that it is";
    Some(Problem::new(Code::Recursion, pointer, message).help(help))
}
