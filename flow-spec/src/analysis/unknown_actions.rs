//! Edges for actions that their nodes do not have: the message, and the intended action.

use super::routes::{Effect, Resolver};
use super::words;
use crate::diagnostic::{Code, Diagnostic, Site};
use crate::graph::{
    DEFAULT_ACTION, ERROR_ACTION, Edge, EdgePart, Node, NodeId, NodeKind, TIMEOUT_ACTION,
};
use crate::suggest::{closest, question};

/// The limit on compared names, which takes time: a flow with so many wrong ones has another
/// problem than typing mistakes.
const MOST_COMPARED: usize = 100_000;

/// The type that a node without actions returns, if it may be an enum of actions.
fn returned_enum(node: &Node) -> Option<&str> {
    let [action] = &node.actions[..] else {
        return None;
    };
    let [write] = &action.writes[..] else {
        return None;
    };
    let name = write.rust_type.rsplit("::").next()?.trim();
    let is_named = name.starts_with(|letter: char| letter.is_ascii_uppercase())
        && name
            .chars()
            .all(|letter| letter.is_alphanumeric() || letter == '_');
    (is_named && name != "String").then_some(name)
}

/// The maximum number of edges that the help writes out.
const MOST_WRITTEN: usize = 3;

/// The help for an edge without an action. `free` are the actions that have no edge.
fn edges_of_all(node: &Node, free: &[usize], to: &str) -> String {
    let first = [0];
    let free = if free.is_empty() { &first } else { free };
    let edges: Vec<String> = free
        .iter()
        .take(MOST_WRITTEN)
        .map(|&action| words::step(&node.name, &node.actions[action].name, to))
        .collect();
    match (&edges[..], free.len() > MOST_WRITTEN) {
        ([edge], _) => format!("write `{edge}`"),
        (edges, false) => format!("write an edge for each: `{};`", edges.join("; ")),
        (edges, true) => format!("write an edge for each: `{}; …`", edges.join("; ")),
    }
}

impl<'g> Resolver<'g> {
    pub(super) fn start_action(&self, at: usize, edge: &Edge, action: &str) -> Diagnostic {
        let message = format!("`start` has no action \"{action}\"");
        let fixed = words::step(
            "start",
            DEFAULT_ACTION,
            &words::target(self.graph, &edge.to),
        );
        Diagnostic::new(
            Code::UnknownAction,
            Site::Edge(at, EdgePart::Action),
            message,
        )
        .help(format!("write `{fixed}`"))
    }

    pub(super) fn cannot_fail(&self, at: usize, id: NodeId) -> Diagnostic {
        let name = words::name(self.graph, id);
        let message = format!("`{name}` cannot fail, so it never takes \"{ERROR_ACTION}\"");
        let help = match self.graph.nodes.get(id.0).map(|node| &node.kind) {
            Some(NodeKind::Human) if self.action(id, TIMEOUT_ACTION).is_some() => {
                format!("it takes \"{TIMEOUT_ACTION}\" if nobody answers in time; remove this edge")
            }
            Some(NodeKind::Human) => {
                format!(
                    "say how long there is to answer, by a `timeout` of `{name}`, or remove this edge"
                )
            }
            Some(NodeKind::Signal) if self.action(id, TIMEOUT_ACTION).is_some() => {
                format!(
                    "it takes \"{TIMEOUT_ACTION}\" if no signal comes in time; remove this edge"
                )
            }
            Some(NodeKind::Signal) => {
                format!("say how long `{name}` waits, by a `timeout`, or remove this edge")
            }
            Some(NodeKind::Undo) => {
                "remove this edge: if an undo node fails for good, the run fails".to_owned()
            }
            Some(NodeKind::Commit) => "remove this edge".to_owned(),
            _ => format!("let `{name}` return a `Result`, or remove this edge"),
        };
        Diagnostic::new(Code::CannotFail, Site::Edge(at, EdgePart::Action), message).help(help)
    }

    /// The message about an edge for an action that the node does not have, and the intended action
    /// if there is only one possibility.
    pub(super) fn unknown_action(
        &mut self,
        at: usize,
        id: NodeId,
    ) -> (Option<Diagnostic>, Option<Effect>) {
        let edge = &self.graph.edges[at];
        let node = self.graph.node(id);
        let wrong = edge.action();
        let near = self.near_action(id, wrong);
        let free: Vec<usize> = (0..node.actions.len())
            .filter(|&action| self.routed[id.0][action].is_none())
            .collect();
        let diagnostic = Diagnostic::new(
            Code::UnknownAction,
            Site::Edge(at, EdgePart::Action),
            unknown(node, edge),
        )
        .help(match near {
            Some(near) => question(wrong, near, |name| format!("\"{name}\"")),
            None => self.instead(id, edge, &free),
        });
        let meant = self.meant(at, id, near, &free);
        // A node without actions is one mistake, however many edges it has.
        let is_said =
            takes_only_default(node) && near.is_none() && !self.without_actions.insert(id);
        ((!is_said).then_some(diagnostic), meant)
    }

    /// The help for an edge for an action that the node does not have.
    fn instead(&self, id: NodeId, edge: &Edge, free: &[usize]) -> String {
        let node = self.graph.node(id);
        let wrong = edge.action();
        let to = words::target(self.graph, &edge.to);
        if node.kind == NodeKind::Human && wrong == TIMEOUT_ACTION {
            return "give it a `timeout` where it is defined: `#[node(human = \"…\", timeout = \"24h\")]`; or remove this edge"
                .to_owned();
        }
        if node.kind == NodeKind::Signal && wrong == TIMEOUT_ACTION {
            return "give it a `timeout` where it is defined: `#[node(signal, timeout = \"24h\")]`; or remove this edge"
                .to_owned();
        }
        if !takes_only_default(node) {
            if wrong == DEFAULT_ACTION {
                return edges_of_all(node, free, &to);
            }
            let error = Some(ERROR_ACTION).filter(|_| self.fallible[id.0]);
            return format!("it takes {}", words::quoted(names(node).chain(error)));
        }
        let fixed = words::step(&node.name, DEFAULT_ACTION, &to);
        match (&node.kind, returned_enum(node)) {
            (NodeKind::Step, _) if wrong == TIMEOUT_ACTION => {
                "only a poll takes it, if its own time is limited: `#[node(poll(every = \"1s\", timeout = \"1m\"))]`; any \
                 other `timeout` leads to \"error\""
                    .to_owned()
            }
            (NodeKind::Step, Some(returned)) => format!(
                "if what it returns decides, say so where it is defined: `#[node(actions = {returned})]`; else write \
                 `{fixed}`"
            ),
            (NodeKind::Step, None) => format!(
                "to let it decide, return an enum with `#[derive(Action)]`, and name that: `#[node(actions = …)]`; else \
                 write `{fixed}`"
            ),
            _ => format!("it has no actions to choose from: write `{fixed}`"),
        }
    }

    /// The effect of the edge, so that it is not reported again: the action that is near, or else
    /// one that has no edge.
    fn meant(
        &mut self,
        at: usize,
        id: NodeId,
        near: Option<&str>,
        free: &[usize],
    ) -> Option<Effect> {
        if let Some(near) = near {
            return Some(match self.action(id, near) {
                Some(action) => {
                    self.routed[id.0][action].get_or_insert(at);
                    Effect::Action(id, action)
                }
                None => Effect::Failure,
            });
        }
        // An edge without an action stands for all that have no edge yet.
        let meant = if self.graph.edges[at].action() == DEFAULT_ACTION {
            free.len()
        } else {
            1
        };
        for &action in free.iter().take(meant) {
            self.routed[id.0][action] = Some(at);
        }
        None
    }

    /// The action that was probably meant.
    fn near_action(&mut self, id: NodeId, wrong: &str) -> Option<&'g str> {
        let actions = &self.graph.node(id).actions;
        self.compared += actions.len();
        if wrong == DEFAULT_ACTION || self.compared > MOST_COMPARED {
            return None;
        }
        let error = Some(ERROR_ACTION).filter(|_| self.fallible[id.0]);
        closest(
            wrong,
            actions
                .iter()
                .map(|action| action.name.as_str())
                .chain(error),
        )
    }
}

/// The message about an edge for an action that the node does not have.
fn unknown(node: &Node, edge: &Edge) -> String {
    let (name, wrong) = (&node.name, edge.action());
    let takes = || words::quoted(names(node));
    if wrong != DEFAULT_ACTION || node.actions.is_empty() {
        format!("`{name}` has no action \"{wrong}\"")
    } else if edge.action.is_none() {
        let takes = takes();
        format!("this edge does not say which action of `{name}` it is for: it takes {takes}")
    } else {
        format!("`{name}` has no action \"{wrong}\": it takes {}", takes())
    }
}

fn names(node: &Node) -> impl Iterator<Item = &str> {
    node.actions.iter().map(|action| action.name.as_str())
}

fn takes_only_default(node: &Node) -> bool {
    names(node).all(|name| name == DEFAULT_ACTION)
}
