//! Other versions of the generated flows.

use std::fmt;

use serde_json::{Value, json};

use crate::Simulated;

/// The version of the flow that a process has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Version {
    /// As it was compiled.
    Compiled,
    /// The same, from its document.
    Loaded,
    /// A document with this change.
    Changed(u64),
}

/// A change of the flow, as by a deployment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Changed {
    /// The number of the first process that has it, from 0.
    pub process: usize,
    /// Decides what has changed, and where.
    pub at: u64,
}

/// What has changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// One more node, whose value nobody reads, at an edge.
    Inserted,
    /// A branch at an edge, whose actions lead to the same node: it has no outcome of its own.
    Branched,
    /// How many items or branches run at the same time.
    Concurrency,
    /// The name of a node.
    Renamed,
    /// How often a flow that is a node is tried.
    Retried,
}

impl Changed {
    /// Whether an execution that continues with it comes to the same end: what a step does depends on its name and
    /// its attempt.
    pub(crate) fn keeps_the_end(self) -> bool {
        !matches!(kind(self.at), Kind::Renamed | Kind::Retried)
    }

    /// What the command line has: `1:4711`.
    ///
    /// # Errors
    ///
    /// It is something else.
    pub fn parse(text: &str) -> Result<Changed, String> {
        let parsed = text.split_once(':').and_then(|(process, at)| {
            Some(Changed {
                process: process.parse().ok()?,
                at: at.parse().ok()?,
            })
        });
        parsed.ok_or_else(|| format!("`{text}` is not as 1:4711"))
    }
}

impl fmt::Display for Changed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.process, self.at)
    }
}

fn kind(at: u64) -> Kind {
    match at % 4 {
        0 => Kind::Inserted,
        1 => Kind::Branched,
        2 => Kind::Concurrency,
        _ if at % 7 == 6 => Kind::Retried,
        _ => Kind::Renamed,
    }
}

/// The flow with a change, somewhere in it or in the flows that are its nodes.
pub(crate) fn changed(flow: Simulated, at: u64) -> String {
    let mut document = flow.structure();
    let which = at as usize / 4;
    let all = count(&document);
    // Half of the changes are in the outermost flow, which an execution is always in.
    let number = which % (2 * all);
    let mut number = if number < all { number } else { 0 };
    change(flow_at(&mut document, &mut number), kind(at), which / all);
    document.to_string()
}

fn nodes_of(flow: &Value) -> &[Value] {
    flow["nodes"].as_array().map_or(&[], Vec::as_slice)
}

/// How many flows there are in it, with itself.
fn count(flow: &Value) -> usize {
    let inner = nodes_of(flow)
        .iter()
        .filter_map(|node| node.get("internalFlow"));
    1 + inner.map(count).sum::<usize>()
}

/// The flow with this number, counted from the outermost one.
fn flow_at<'a>(flow: &'a mut Value, number: &mut usize) -> &'a mut Value {
    if *number == 0 {
        return flow;
    }
    *number -= 1;
    let index = nodes_of(flow).iter().position(|node| {
        let Some(inner) = node.get("internalFlow") else {
            return false;
        };
        let all = count(inner);
        let is_inside = *number < all;
        if !is_inside {
            *number -= all;
        }
        is_inside
    });
    match index {
        Some(index) => flow_at(&mut flow["nodes"][index]["internalFlow"], number),
        None => flow,
    }
}

fn change(flow: &mut Value, kind: Kind, at: usize) {
    match kind {
        Kind::Inserted => insert(flow, at, &one_more(flow), &["default"]),
        Kind::Branched => insert(flow, at, &a_branch(), &["high", "low"]),
        Kind::Concurrency => {
            let is_limited = |node: &&mut Value| {
                matches!(node["type"].as_str(), Some("flow.fork" | "flow.each"))
            };
            let nodes = flow["nodes"].as_array_mut();
            let mut limited: Vec<&mut Value> =
                nodes.into_iter().flatten().filter(is_limited).collect();
            if limited.is_empty() {
                return insert(flow, at, &one_more(flow), &["default"]);
            }
            let index = at % limited.len();
            limited[index]["settings"]["concurrency"] = json!(1 + at / limited.len() % 3);
        }
        Kind::Retried => {
            let nodes = flow["nodes"].as_array_mut().into_iter().flatten();
            let mut flows: Vec<&mut Value> = nodes
                .filter(|node| node.get("internalFlow").is_some())
                .collect();
            if flows.is_empty() {
                return insert(flow, at, &one_more(flow), &["default"]);
            }
            let index = at % flows.len();
            flows[index]["settings"]["retry"] = json!({ "attempts": 3 });
        }
        Kind::Renamed => {
            let plain: Vec<&str> = nodes_of(flow)
                .iter()
                .filter(|node| {
                    !node["type"]
                        .as_str()
                        .unwrap_or_default()
                        .starts_with("flow.")
                })
                .filter_map(|node| node["id"].as_str())
                .collect();
            let old = plain[at % plain.len()].to_owned();
            for part in ["nodes", "edges", "ends", "entryNodeId"] {
                rename(&mut flow[part], &old);
            }
        }
    }
}

/// A node whose value nobody reads.
fn one_more(flow: &Value) -> Value {
    let last = nodes_of(flow).iter().find(|node| node["id"] == "last");
    let Some(mut extra) = last.cloned() else {
        unreachable!("each flow has a node `last`");
    };
    extra["id"] = json!("extra");
    extra["mappings"] = json!({ "inputs": { "a": "a" }, "outputs": { "w": "kextra" } });
    extra
}

fn a_branch() -> Value {
    json!({
        "type": "flow.branch",
        "id": "extra",
        "params": { "cases": [{ "when": "a > 500", "action": "high" }], "otherwise": "low" },
    })
}

/// One more node at an edge or before an end, all of whose actions lead to where the edge led.
fn insert(flow: &mut Value, at: usize, extra: &Value, actions: &[&str]) {
    let count = |part: &Value| part.as_array().map_or(0, Vec::len);
    let (edges, ends) = (count(&flow["edges"]), count(&flow["ends"]));
    let index = at % (edges + ends);
    let list = if index < edges { "edges" } else { "ends" };
    let Some(list) = flow[list].as_array_mut() else {
        return;
    };
    let way = list.remove(if index < edges { index } else { index - edges });
    // What the edge maps is read behind it.
    for action in actions {
        let mut behind = way.clone();
        (behind["from"], behind["condition"]) = (json!("extra"), json!(action));
        list.push(behind);
    }
    let before = json!({ "from": way["from"], "condition": way["condition"], "to": "extra" });
    if let Some(edges) = flow["edges"].as_array_mut() {
        edges.push(before);
    }
    if let Some(nodes) = flow["nodes"].as_array_mut() {
        nodes.push(extra.clone());
    }
}

/// Renames a node wherever it stands; the flows inside have nodes of their own.
fn rename(part: &mut Value, old: &str) {
    match part {
        Value::String(name) if name == old => "renamed".clone_into(name),
        Value::Array(parts) => parts.iter_mut().for_each(|part| rename(part, old)),
        Value::Object(parts) => {
            let names_nodes = [
                "id", "from", "to", "params", "branches", "steps", "body", "settings", "undo",
            ];
            for (key, part) in parts {
                if names_nodes.contains(&key.as_str()) {
                    rename(part, old);
                }
            }
        }
        _ => {}
    }
}
