//! A short notation for graphs, with a line for each part:
//!
//! ```text
//! in claim                      an input; `claim?` may be left out
//! out receipt?                  an output, here one that may be unwritten
//! node pay! claim *amount note? writes receipt +log
//!                               reads `claim`, takes `amount`, may read `note`, adds to `log`;
//!                               `!` can fail
//! node review claim on approved writes amount on rejected
//! first outcome [ a b = won , c ]  a race; after `=`, the action of a branch
//! node pay! claim undo refund   `refund` takes it back
//! node pay claim was=charge     its former name; `was=` is an empty one
//! fork both [ a b , c ]         also `each all item body`, `flow sub Name`, `branch`, `wait`, `human`,
//!                               `signal`, `undo undo`, `commit commit`
//! review - approved >> pay { claim <- amount , note <- why } >> end:done
//! ```

use crate::diagnostic::{Diagnostic, Site};
use crate::graph::{
    Action, Branch, DEFAULT_ACTION, Edge, EdgeMapping, EdgeSource, EdgeTarget, Graph, Input, Node,
    NodeId, NodeKind, NodeRead, NodeWrite, Output, RaceBranch, ReadMode,
};
use crate::{Compared, check, check_types};

/// The graph that the notation describes. The name of its flow is `Test`.
pub(super) fn graph(text: &str) -> Graph {
    let mut graph = Graph {
        name: "Test".to_owned(),
        ..Graph::default()
    };
    let lines: Vec<Vec<&str>> = text
        .lines()
        .map(|line| line.split_whitespace().collect())
        .filter(|line: &Vec<_>| !line.is_empty())
        .collect();
    let names: Vec<&str> = lines
        .iter()
        .filter(|line| is_node(line))
        .map(|line| line[1].trim_matches('!'))
        .collect();
    let id = |name: &str| NodeId(names.iter().position(|other| *other == name).unwrap_or(99));
    for line in &lines {
        match line[0] {
            "in" => {
                let (key, optional) = optional(line[1]);
                graph.inputs.push(Input {
                    key,
                    optional,
                    rust_type: type_of(line, 1),
                });
            }
            "out" => {
                let (key, optional) = optional(line[1]);
                graph.outputs.push(Output {
                    key,
                    optional,
                    rust_type: type_of(line, 1),
                });
            }
            _ if is_node(line) => graph.nodes.push(node(line, &id)),
            _ => chain(line, &id, &mut graph.edges),
        }
    }
    for at in 0..graph.nodes.len() {
        if let NodeKind::Race(branches) = &graph.nodes[at].kind {
            let names = graph.actions_of_race(branches).into_iter();
            let writes = Vec::new;
            let actions = names.map(|name| Action {
                name,
                writes: writes(),
            });
            graph.nodes[at].actions = actions.collect();
        }
    }
    graph
}

/// All problems of the graph, each with its place; or a text that it is sound.
pub(super) fn report(text: &str) -> String {
    let graph = graph(text);
    match check(graph.clone()) {
        Ok(_) => "sound".to_owned(),
        Err(found) => show(&graph, &found),
    }
}

/// All problems of the types.
pub(super) fn report_types(text: &str) -> String {
    let graph = graph(text);
    show(&graph, &check_types(&graph, Compared::Named))
}

fn show(graph: &Graph, found: &[Diagnostic]) -> String {
    let entry = |diagnostic: &Diagnostic| {
        let related = diagnostic.related.iter();
        let related: String = related
            .map(|(at, what)| format!("\nsee {}: {what}", site(graph, *at)))
            .collect();
        format!("{}: {diagnostic}{related}", site(graph, diagnostic.site))
    };
    found.iter().map(entry).collect::<Vec<_>>().join("\n\n")
}

fn site(graph: &Graph, site: Site) -> String {
    match site {
        Site::Flow => "flow".to_owned(),
        Site::Input(at) => format!("input {}", graph.inputs[at].key),
        Site::Output(at) => format!("output {}", graph.outputs[at].key),
        Site::Node(id) => format!("node {}", graph.node(id).name),
        Site::Read(id, at) => {
            let node = graph.node(id);
            format!("read {} of {}", node.reads[at].key, node.name)
        }
        Site::Undo(id) => format!("undo of {}", graph.node(id).name),
        Site::Was(id) => format!("was of {}", graph.node(id).name),
        Site::Edge(at, part) => format!("edge {at} {part:?}"),
    }
}

fn is_node(line: &[&str]) -> bool {
    let is_step = ["undo", "commit"].contains(&line[0]) && ![">>", "-"].contains(&line[1]);
    is_step
        || [
            "node", "fork", "first", "each", "flow", "branch", "wait", "human", "signal",
        ]
        .contains(&line[0])
}

fn optional(key: &str) -> (String, bool) {
    (key.trim_end_matches('?').to_owned(), key.ends_with('?'))
}

/// The type written as `: T`, or else the key's name in capitals.
fn type_of(line: &[&str], at: usize) -> String {
    match line.get(at + 1..at + 3) {
        Some([":", written]) => (*written).to_owned(),
        _ => {
            let key = line[at].trim_matches(['?', '*', '+']);
            key[..1].to_uppercase() + &key[1..]
        }
    }
}

fn node(line: &[&str], id: &dyn Fn(&str) -> NodeId) -> Node {
    let (kind, rest) = match line[0] {
        "fork" => {
            let close = line
                .iter()
                .position(|word| *word == "]")
                .unwrap_or(line.len() - 1);
            let branches = line[3..close].split(|word| *word == ",");
            let branches = branches.map(|chain| Branch {
                chain: chain.iter().map(|name| id(name)).collect(),
            });
            (NodeKind::Fork(branches.collect()), close + 1)
        }
        "first" => {
            let close = line.iter().position(|word| *word == "]");
            let close = close.unwrap_or(line.len() - 1);
            let branches = line[3..close].split(|word| *word == ",");
            let branches = branches.map(|branch| {
                let mut parts = branch.split(|word| *word == "=");
                let chain = parts.next().unwrap_or_default();
                let action = parts.next().and_then(|action| action.first());
                RaceBranch {
                    chain: chain.iter().map(|name| id(name)).collect(),
                    action: action.map(|action| (*action).to_owned()),
                }
            });
            (NodeKind::Race(branches.collect()), close + 1)
        }
        "each" => (
            NodeKind::Each {
                item: line[2].to_owned(),
                body: id(line[3]),
                writes: Vec::new(),
            },
            4,
        ),
        "flow" => (NodeKind::Flow(line[2].to_owned()), 3),
        "branch" => (NodeKind::Branch, 2),
        "wait" => (NodeKind::Wait, 2),
        "human" => (NodeKind::Human, 2),
        "signal" => (NodeKind::Signal, 2),
        "undo" => (NodeKind::Undo, 2),
        "commit" => (NodeKind::Commit, 2),
        _ => (NodeKind::Step, 2),
    };
    let mut reads = Vec::new();
    let mut actions = vec![Action {
        name: DEFAULT_ACTION.to_owned(),
        writes: Vec::new(),
    }];
    let mut has_declared = false;
    let mut in_writes = false;
    let mut was = None;
    let mut undo = None;
    let mut at = rest;
    while at < line.len() {
        match line[at] {
            "writes" => in_writes = true,
            ":" => at += 1,
            "undo" => {
                at += 1;
                undo = Some(id(line[at]));
            }
            "on" => {
                if !std::mem::replace(&mut has_declared, true) {
                    actions.clear();
                }
                at += 1;
                in_writes = false;
                actions.push(Action {
                    name: line[at].to_owned(),
                    writes: Vec::new(),
                });
            }
            word if word.starts_with("was=") => was = Some(word["was=".len()..].to_owned()),
            word => {
                let (key, optional) = optional(word.trim_start_matches(['*', '+']));
                let rust_type = type_of(line, at);
                if in_writes {
                    let writes = &mut actions.last_mut().expect("an action").writes;
                    writes.push(NodeWrite {
                        key,
                        optional,
                        adds: word.starts_with('+'),
                        rust_type,
                    });
                } else {
                    let mode = if word.starts_with('*') {
                        ReadMode::Take
                    } else {
                        ReadMode::Borrow
                    };
                    reads.push(NodeRead {
                        key,
                        mode,
                        optional,
                        rust_type,
                        mapped: false,
                    });
                }
            }
        }
        at += 1;
    }
    let name = line[1].trim_matches('!').to_owned();
    Node {
        name,
        kind,
        reads,
        actions,
        fallible: line[1].ends_with('!'),
        undo,
        was,
    }
}

fn chain(line: &[&str], id: &dyn Fn(&str) -> NodeId, edges: &mut Vec<Edge>) {
    let mut from = if line[0] == "start" {
        EdgeSource::Start
    } else {
        EdgeSource::Node(id(line[0]))
    };
    let mut at = 1;
    while at < line.len() {
        let action = (line[at] == "-").then(|| line[at + 1].to_owned());
        at += if action.is_some() { 3 } else { 1 };
        let to = match line[at] {
            "end" => EdgeTarget::End(DEFAULT_ACTION.to_owned()),
            word => match word.strip_prefix("end:") {
                Some(label) => EdgeTarget::End(label.to_owned()),
                None => EdgeTarget::Node(id(word)),
            },
        };
        let mut mappings = Vec::new();
        if line.get(at + 1) == Some(&"{") {
            at += 2;
            while line[at] != "}" {
                mappings.push(EdgeMapping {
                    key: line[at].to_owned(),
                    source: line[at + 2].to_owned(),
                });
                at += if line[at + 3] == "," { 4 } else { 3 };
            }
        }
        edges.push(Edge {
            from,
            action,
            to: to.clone(),
            mappings,
        });
        from = match to {
            EdgeTarget::Node(id) => EdgeSource::Node(id),
            EdgeTarget::End(_) => EdgeSource::Start,
        };
        at += 1;
    }
}
