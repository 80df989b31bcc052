//! The `FlowDefinition` of the AI Agent Flow Framework: agents, branches, parallel nodes, people,
//! waits and loops. Functions, which the framework writes in TypeScript, are names of registered
//! nodes here. Conditions are expressions in CEL.

mod nodes;
mod parts;

use std::collections::{HashMap, HashSet};

use flow_spec::document::__private::{Object, inside};
use flow_spec::document::{Problems, types};
use flow_spec::{Code, DEFAULT_ACTION, ERROR_ACTION, NodeDocument, Problem, did_you_mean};
use serde_json::{Value, json};

use super::draft::{Draft, Route, agent, built_in, human, written_ids};
use nodes::{Kind, Node, Reference};
use parts::Parts;

/// Reads a definition. The draft is incomplete if there are problems.
pub(super) fn read(value: &Value, problems: &mut Problems) -> Option<Draft> {
    let fields = ["id", "startNode", "nodes", "initialState"];
    let mut object = Object::of(value, "", "a flow definition", &fields, problems)?;
    let id = object.required_name("id", "name the flow: `\"id\": \"research\"`");
    let mut draft = Draft::new(&id, "initialState");
    draft.note("/name".to_owned(), "/id");
    for (name, value) in object.object("initialState").into_iter().flatten() {
        let origin = inside("/initialState", name);
        draft.value(name, value, origin, object.problems);
    }
    let start = object.required_name("startNode", "name the node that runs first");
    object.require("nodes", "list the nodes: `\"nodes\": [ … ]`");
    let nodes = object.list("nodes", nodes::node)?;
    if nodes.is_empty() {
        let problem = Problem::new(Code::Start, "/nodes", "the flow has no nodes");
        object
            .problems
            .push(problem.help("add the node that runs first"));
    }
    let nodes: Vec<Node> = nodes.into_iter().flatten().collect();
    let ids: HashMap<&str, usize> = nodes
        .iter()
        .enumerate()
        .map(|(index, node)| (node.id.as_str(), index))
        .collect();
    let written: HashSet<&str> = written_ids(value, "nodes").collect();
    let start = Reference {
        id: start,
        pointer: "/startNode".to_owned(),
    };
    for reference in [&start]
        .into_iter()
        .chain(nodes.iter().flat_map(Node::references))
    {
        // A node whose id could not be read may be the target.
        let id = reference.id.as_str();
        let is_known = id.is_empty() || ids.contains_key(id) || written.contains(id);
        if is_known || ids.contains_key("") || problems.is_full() {
            continue;
        }
        let message = format!("there is no node `{}`", reference.id);
        let mut problem = Problem::new(Code::UnknownNode, &reference.pointer, message);
        problem.help = did_you_mean(&reference.id, nodes.iter().map(|node| node.id.as_str()));
        problems.push(problem);
    }
    if !problems.is_empty() {
        return None;
    }
    let parts = Parts::of(&nodes, &ids, problems);
    if !problems.is_empty() {
        return None;
    }
    draft.flow.entry_node_id = Some(start.id);
    draft.note("/entryNodeId".to_owned(), start.pointer);
    for (index, node) in nodes.iter().enumerate() {
        add(&mut draft, &nodes, &parts, index, node);
    }
    Some(draft)
}

/// Adds a node with the edges that leave it.
fn add(draft: &mut Draft, nodes: &[Node], parts: &Parts, index: usize, node: &Node) {
    let at = |field: &str| inside(&node.pointer, field);
    // The nodes of a parallel node have no edges.
    let is_free = !parts.is_in_branch(index);
    let after = || parts.after(nodes, index);
    let fails = parts.routes_error(nodes, index);
    let last = match &node.kind {
        Kind::Agent { agent: name } => {
            let mut made = agent(&node.id, &name.id);
            made.fallible = fails || node.settings.retry.is_some();
            let pointer = add_node(draft, node, made);
            draft.note(inside(&pointer, "type"), &*name.pointer);
            draft.note(inside(&pointer, "outputs"), &*name.pointer);
            draft.result(&node.key, &name.pointer);
            node.id.clone()
        }
        Kind::Human { message } => {
            let mut made = human(&node.id, message);
            made.fallible = fails;
            add_node(draft, node, made);
            draft.result(&node.key, &node.pointer);
            node.id.clone()
        }
        Kind::Wait { duration, poll } => {
            let poll = poll.as_ref().map(|poll| (poll, fails));
            add_wait(draft, node, duration.as_deref(), poll, is_free)
        }
        Kind::Parallel { children, limit } => {
            let branches = parts.branches(nodes, children);
            let mut made = built_in(&node.id, types::FORK, json!({ "branches": branches }));
            made.settings.concurrency = *limit;
            add_node(draft, node, made);
            node.id.clone()
        }
        Kind::Branch { cases, default } => {
            add_branch(draft, node, cases, default.as_ref());
            return;
        }
        Kind::Loop { body, condition } => {
            let cases = json!([{ "when": condition, "action": "again" }]);
            let params = json!({ "cases": cases, "otherwise": "done" });
            let pointer = add_node(draft, node, built_in(&node.id, types::BRANCH, params));
            draft.note(inside(&pointer, "params"), at("continueCondition"));
            draft.route(&node.id, route("again", Some(&body.id), &body.pointer));
            let (to, pointer) = after();
            draft.route(&node.id, route("done", to, &pointer));
            return;
        }
    };
    if is_free {
        let (to, pointer) = after();
        draft.next(&last, to.map(str::to_owned), pointer);
        if let Some(to) = &node.on_error {
            draft.route(&last, route(ERROR_ACTION, Some(&to.id), &to.pointer));
        }
    }
}

/// Adds a node of the document for a node of the definition.
fn add_node(draft: &mut Draft, node: &Node, mut made: NodeDocument) -> String {
    made.title = node.title.clone();
    made.settings.retry = node.settings.retry.clone();
    made.settings.timeout = node.settings.timeout.clone();
    made.mappings.inputs = node.reads.clone();
    let pointer = draft.node(made, &node.pointer);
    for (part, field) in [
        ("id", "id"),
        ("title", "label"),
        ("settings/retry", "maxRetries"),
        ("settings/retry/if", "retryIf"),
        ("settings/timeout", "timeoutMs"),
        ("mappings/inputs", "inputAdapter"),
    ] {
        draft.note(format!("{pointer}/{part}"), inside(&node.pointer, field));
    }
    pointer
}

/// Adds a wait: a pause, a poll, which may fail, or a poll after a pause. Returns the id of the
/// last one.
fn add_wait(
    draft: &mut Draft,
    node: &Node,
    duration: Option<&str>,
    poll: Option<(&Reference, bool)>,
    is_free: bool,
) -> String {
    if let Some(duration) = duration {
        let mut made = built_in(&node.id, types::WAIT, json!({ "duration": duration }));
        made.title = node.title.clone();
        draft.node(made, &node.pointer);
    }
    let Some((poll, fails)) = poll else {
        return node.id.clone();
    };
    let id = node.poll_id();
    let mut made = agent(&id, &poll.id);
    made.title = node.title.clone();
    made.fallible = fails;
    made.mappings.inputs = node.reads.clone();
    let pointer = draft.node(made, &node.pointer);
    draft.note(inside(&pointer, "type"), &*poll.pointer);
    draft.result(&node.key, &poll.pointer);
    if id != node.id && is_free {
        draft.next(&node.id, Some(id.clone()), node.pointer.clone());
    }
    id
}

fn add_branch(
    draft: &mut Draft,
    node: &Node,
    cases: &[(String, Reference)],
    default: Option<&Reference>,
) {
    let action = |to: Option<&Reference>| to.map_or("end", |to| to.id.as_str()).to_owned();
    let listed = cases.iter();
    let listed = listed.map(|(when, to)| json!({ "when": when, "action": to.id }));
    let listed: Vec<Value> = listed.collect();
    let params = json!({ "cases": listed, "otherwise": action(default) });
    let pointer = add_node(draft, node, built_in(&node.id, types::BRANCH, params));
    for (index, (_, to)) in cases.iter().enumerate() {
        let case = format!("{pointer}/params/cases/{index}");
        let origin = format!("{}/cases/{index}", node.pointer);
        draft.note(inside(&case, "when"), inside(&origin, "condition"));
        draft.note(inside(&case, "action"), &*to.pointer);
    }
    let mut routed = HashSet::new();
    for to in cases.iter().map(|(_, to)| Some(to)).chain([default]) {
        let action = action(to);
        if routed.insert(action.clone()) {
            let at = match to {
                Some(to) => to.pointer.clone(),
                None => inside(&node.pointer, "default"),
            };
            draft.route(&node.id, route(&action, to.map(|to| to.id.as_str()), &at));
        }
    }
}

fn route(action: &str, to: Option<&str>, pointer: &str) -> Route {
    Route {
        action: action.to_owned(),
        to: to.map(str::to_owned),
        label: DEFAULT_ACTION,
        pointer: pointer.to_owned(),
    }
}
