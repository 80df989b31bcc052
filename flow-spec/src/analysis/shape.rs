//! The nesting of nodes in forks and loops.
//!
//! A graph may be malformed: a node in two places, a fork inside itself. Here it is reduced to a
//! forest, and each cut is reported, so that no later pass can meet such a thing.

use super::found::Found;
use crate::diagnostic::{Code, Diagnostic, Site};
use crate::graph::{Action, DEFAULT_ACTION, Graph, Node, NodeId, NodeKind};

/// The place of a node inside a fork, a race or a loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    /// The fork, race or loop.
    pub(super) owner: NodeId,
    /// The branch of the fork or race; 0 in a loop.
    pub(super) branch: usize,
}

/// The nesting of the nodes.
pub(super) struct Shape {
    places: Vec<Option<Place>>,
    chains: Vec<Vec<Vec<NodeId>>>,
    outermost: Vec<NodeId>,
}

impl Shape {
    /// The nesting that `graph` describes, without the impossible parts.
    pub(super) fn new(graph: &Graph, found: &mut Found) -> Shape {
        let mut places = vec![None; graph.nodes.len()];
        let mut written: Vec<Vec<Vec<NodeId>>> = graph.nodes.iter().map(chains).collect();
        for owner in graph.node_ids() {
            for (branch, chain) in written[owner.0].iter_mut().enumerate() {
                chain.retain(|&part| {
                    claim(graph, &mut places, Place { owner, branch }, part, found)
                });
            }
        }
        for (id, place) in cut_circles(&mut places) {
            found.push(contains_itself(graph, id));
            written[place.owner.0][place.branch].retain(|&part| part != id);
        }
        let outermost = outermost(&places);
        Shape {
            places,
            chains: written,
            outermost,
        }
    }

    /// The place of the node inside a fork or a loop, if it is in one.
    pub(super) fn place(&self, id: NodeId) -> Option<Place> {
        self.places[id.0]
    }

    /// The branches of a fork or a race, or the body of a loop as its only branch.
    pub(super) fn chains(&self, id: NodeId) -> &[Vec<NodeId>] {
        &self.chains[id.0]
    }

    /// The node of the flow itself that this node is, or that contains it.
    pub(super) fn outermost(&self, id: NodeId) -> NodeId {
        self.outermost[id.0]
    }

    /// Returns `true` if two nodes are in different branches of a fork.
    pub(super) fn are_beside(&self, one: NodeId, other: NodeId) -> bool {
        let around = |id| std::iter::successors(self.place(id), |place| self.place(place.owner));
        around(one).any(|place| {
            around(other).any(|beside| beside.owner == place.owner && beside.branch != place.branch)
        })
    }

    /// Every node inside `id`, at any depth, in the order written.
    pub(super) fn inside(&self, id: NodeId) -> Vec<NodeId> {
        let mut inside = Vec::new();
        let mut waiting: Vec<NodeId> = self.parts_backwards(id).collect();
        while let Some(part) = waiting.pop() {
            inside.push(part);
            waiting.extend(self.parts_backwards(part));
        }
        inside
    }

    fn parts_backwards(&self, id: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        self.chains[id.0]
            .iter()
            .rev()
            .flat_map(|chain| chain.iter().rev().copied())
    }
}

/// Reports forks and races directly inside others, and the actions that would leave a fork, a race
/// or a loop from the inside.
pub(super) fn check_parts(graph: &Graph, shape: &Shape, found: &mut Found) {
    for id in graph.node_ids() {
        let Some(place) = shape.place(id) else {
            continue;
        };
        let node = graph.node(id);
        if let Some(inner) = with_branches(node) {
            let outer = with_branches(graph.node(place.owner)).unwrap_or("loop over items");
            let message = format!("`{}` is a {inner} directly inside a {outer}", node.name);
            let help = format!("make a flow of the inner {inner}, and put that flow here");
            found.push(Diagnostic::new(Code::ForkShape, Site::Node(id), message).help(help));
            continue;
        }
        // Conditions decide, whatever their actions are called.
        let decides = node.kind == NodeKind::Branch;
        let is_led = |action: &&Action| decides || action.name != DEFAULT_ACTION;
        let Some(action) = node.actions.iter().find(is_led) else {
            continue;
        };
        let (name, action) = (&node.name, &action.name);
        let flow = format!(
            "make a flow of its own that routes the actions of `{name}` to its `end`, and put that flow here"
        );
        let (message, help) = match &graph.node(place.owner).kind {
            NodeKind::Race(branches) => {
                let branch = &branches[place.branch];
                match (&branch.action, branch.chain.last() == Some(&id)) {
                    (None, true) => continue,
                    (Some(label), true) => (
                        format!(
                            "`{name}` decides between actions, and its branch takes \"{label}\" whatever it decides"
                        ),
                        format!(
                            "remove `=> \"{label}\"`: then the actions of `{name}` are those of the race; or {flow}"
                        ),
                    ),
                    (_, false) => (
                        format!(
                            "`{name}` is not the last step of its branch, so its action \"{action}\" leads nowhere"
                        ),
                        format!("put it last, or {flow}"),
                    ),
                }
            }
            NodeKind::Each { .. } => (
                format!(
                    "`{name}` runs once for each item, so its action \"{action}\" leads nowhere"
                ),
                flow,
            ),
            _ => (
                format!(
                    "`{name}` stands in a fork, so its action \"{action}\" cannot lead out of it"
                ),
                format!("put `{name}` before or after the fork, or {flow}"),
            ),
        };
        found.push(Diagnostic::new(Code::ForkShape, Site::Node(id), message).help(help));
    }
}

/// The word for a node with branches. `None` for other nodes.
fn with_branches(node: &Node) -> Option<&'static str> {
    match node.kind {
        NodeKind::Fork(_) => Some("fork"),
        NodeKind::Race(_) => Some("race"),
        _ => None,
    }
}

fn chains(node: &Node) -> Vec<Vec<NodeId>> {
    match &node.kind {
        NodeKind::Fork(branches) => branches.iter().map(|branch| branch.chain.clone()).collect(),
        NodeKind::Race(branches) => branches.iter().map(|branch| branch.chain.clone()).collect(),
        NodeKind::Each { body, .. } => vec![vec![*body]],
        _ => Vec::new(),
    }
}

/// Puts `part` at `place`, if it can be there.
fn claim(
    graph: &Graph,
    places: &mut [Option<Place>],
    place: Place,
    part: NodeId,
    found: &mut Found,
) -> bool {
    let owner = &graph.node(place.owner).name;
    let Some(taken) = places.get_mut(part.0) else {
        let message = format!(
            "`{owner}` contains node number {}, which does not exist",
            part.0
        );
        found.push(Diagnostic::new(
            Code::UnknownNode,
            Site::Node(place.owner),
            message,
        ));
        return false;
    };
    if part == place.owner {
        found.push(contains_itself(graph, part));
        return false;
    }
    let name = &graph.node(part).name;
    if let Some(first) = *taken {
        let message = if first.owner == place.owner {
            format!("`{name}` stands twice in `{owner}`")
        } else {
            format!(
                "`{name}` stands in `{}` and again in `{owner}`",
                graph.node(first.owner).name
            )
        };
        let word = match graph.node(part).kind {
            NodeKind::Human => "human ",
            NodeKind::Signal => "signal ",
            _ => "",
        };
        let help =
            format!("give the second place a node of its own: `node {name}_again: {word}{name};`");
        found.push(Diagnostic::new(Code::ForkShape, Site::Node(part), message).help(help));
        return false;
    }
    *taken = Some(place);
    true
}

fn contains_itself(graph: &Graph, id: NodeId) -> Diagnostic {
    let message = format!("`{}` contains itself", graph.node(id).name);
    Diagnostic::new(Code::ForkShape, Site::Node(id), message)
        .help("use an edge that goes back, if it has to run again")
}

/// Takes one node out of each circle of owners. Returns these nodes with their places.
fn cut_circles(places: &mut [Option<Place>]) -> Vec<(NodeId, Place)> {
    let mut seen_from: Vec<Option<usize>> = vec![None; places.len()];
    let mut cut = Vec::new();
    for start in 0..places.len() {
        let mut at = start;
        while seen_from[at].is_none() {
            seen_from[at] = Some(start);
            match places[at] {
                Some(place) => at = place.owner.0,
                None => break,
            }
        }
        if seen_from[at] == Some(start)
            && let Some(place) = places[at].take()
        {
            cut.push((NodeId(at), place));
        }
    }
    cut
}

fn outermost(places: &[Option<Place>]) -> Vec<NodeId> {
    let mut known: Vec<Option<NodeId>> = vec![None; places.len()];
    let mut path = Vec::new();
    for start in 0..places.len() {
        let mut at = start;
        let top = loop {
            if let Some(top) = known[at] {
                break top;
            }
            path.push(at);
            match places[at] {
                Some(place) => at = place.owner.0,
                None => break NodeId(at),
            }
        };
        path.drain(..).for_each(|passed| known[passed] = Some(top));
    }
    known
        .into_iter()
        .enumerate()
        .map(|(at, top)| top.unwrap_or(NodeId(at)))
        .collect()
}
