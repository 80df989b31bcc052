//! Branches: the names in their conditions, with their places.

use std::collections::HashSet;

use flow_spec::document::{ActionDocument, types};
use flow_spec::{Code, FlowDocument, NodeDocument, did_you_mean, property};
use serde_json::Value;

use crate::condition::{Condition, Conditions, Misread};
use crate::prompt::Prompt;

use super::Loader;

/// The conditions of a branch, with the indexes of their cases.
pub(super) fn conditions(node: &NodeDocument) -> impl Iterator<Item = (usize, &str)> {
    let cases = node.params.get("cases").and_then(Value::as_array);
    let cases = cases.into_iter().flatten().enumerate();
    cases.filter_map(|(number, case)| Some((number, case.get("when")?.as_str()?)))
}

impl Loader<'_> {
    /// Completes a branch with the values that its conditions read and the actions of its cases.
    /// Reports conditions that cannot be used.
    pub(super) fn complete_branch(&mut self, node: &mut NodeDocument, pointer: &str) {
        if node.inputs.is_empty() {
            let read = conditions(node).map(|(_, condition)| self.conditions.read(condition));
            let read: Vec<_> = read.filter_map(Result::ok).collect();
            for name in read.iter().flat_map(|condition| condition.names()) {
                node.inputs.insert(name, property("", None), true);
            }
        }
        if node.actions.is_none() {
            node.actions = Some(actions(node));
        }
        for (number, condition) in conditions(node) {
            let unread = match self.conditions.read(condition) {
                Ok(condition) => unlisted(&condition, node),
                Err(misread) => Some(misread),
            };
            let Some(Misread { message, help }) = unread else {
                continue;
            };
            let message = format!("the condition cannot be used: {message}");
            let place = format!("{pointer}/params/cases/{number}/when");
            self.problem(Code::Malformed, place, message, help);
            self.misread.insert(pointer.to_owned());
        }
    }
}

/// The mistake of a condition that reads something that the branch does not list.
fn unlisted(condition: &Condition, node: &NodeDocument) -> Option<Misread> {
    let listed = &node.inputs.properties;
    let mut names = condition.names().iter();
    let name = names.find(|name| !listed.contains_key(*name))?;
    Some(Misread {
        message: format!("it reads `{name}`, which is not among the inputs of the branch"),
        help: did_you_mean(name, listed.keys().map(String::as_str)),
    })
}

/// The actions that the cases of a branch name.
fn actions(node: &NodeDocument) -> Vec<ActionDocument> {
    let cases = node.params.get("cases").and_then(Value::as_array);
    let actions = cases
        .into_iter()
        .flatten()
        .filter_map(|case| case.get("action"))
        .chain(node.params.get("otherwise"));
    let mut seen = HashSet::new();
    let names = actions.filter_map(Value::as_str);
    let names = names.filter(|name| seen.insert(*name));
    let action = |name: &str| ActionDocument {
        name: name.to_owned(),
        ..ActionDocument::default()
    };
    names.map(action).collect()
}

/// The pointer in a node of the language at which it names a key that it reads: the condition, the
/// prompt, or the name of a collection. `None` for other nodes.
pub(super) fn names_key_at(
    node: &NodeDocument,
    key: &str,
    read: &mut Conditions,
) -> Option<String> {
    match node.r#type.as_str() {
        types::BRANCH => {
            let mut conditions = conditions(node);
            let (number, _) = conditions.find(|(_, condition)| {
                let condition = read.read(condition);
                condition.is_ok_and(|condition| condition.names().iter().any(|name| name == key))
            })?;
            Some(format!("/params/cases/{number}/when"))
        }
        types::HUMAN => {
            let prompt = node.params.get("prompt")?.as_str()?;
            let prompt = Prompt::parse(prompt).ok()?;
            let names = prompt.keys().iter().any(|name| name == key);
            names.then(|| "/params/prompt".to_owned())
        }
        types::EACH => Some("/params/over".to_owned()),
        _ => None,
    }
}

/// The part of a document at a pointer: a flow, the node around the part, and the rest of the
/// pointer. An edge belongs to the node from which it comes.
pub(super) struct Part<'d, 'p> {
    /// The pointer of the flow around the node.
    pub(super) flow_pointer: &'p str,
    pub(super) flow: &'d FlowDocument,
    pub(super) node: Option<usize>,
    /// The rest of the pointer, inside the node. Empty for an edge.
    pub(super) inside: &'p str,
}

/// Returns the part of a document at a pointer.
pub(super) fn part<'d, 'p>(document: &'d FlowDocument, pointer: &'p str) -> Part<'d, 'p> {
    let (mut flow, mut start) = (document, 0);
    loop {
        let rest = &pointer[start..];
        let mut part = Part {
            flow_pointer: &pointer[..start],
            flow,
            node: None,
            inside: "",
        };
        let mut names = rest.splitn(4, '/').skip(1);
        let (Some(list), Some(index)) = (names.next(), names.next()) else {
            return part;
        };
        let inside = start + list.len() + index.len() + 2;
        let index: Option<usize> = index.parse().ok();
        let Some(index) = index else { return part };
        let id = match list {
            "nodes" => {
                let Some(node) = flow.nodes.get(index) else {
                    return part;
                };
                const FLOW: &str = "/internalFlow";
                if let (Some(inner), true) =
                    (&node.internal_flow, pointer[inside..].starts_with(FLOW))
                {
                    (flow, start) = (inner, inside + FLOW.len());
                    continue;
                }
                part.node = Some(index);
                part.inside = &pointer[inside..];
                return part;
            }
            "edges" => flow.edges.get(index).map(|edge| edge.from.as_str()),
            "ends" => flow.ends.get(index).and_then(|end| end.from.as_deref()),
            _ => None,
        };
        part.node = id.and_then(|id| flow.nodes.iter().position(|node| node.id == id));
        return part;
    }
}
