//! The meaning of each edge: its real target, and the keys that it writes on the way.
//!
//! A wrong edge was still meant to lead somewhere. An edge for a misspelt action counts as one for
//! the action that was probably meant, so that it causes no further reports.

use std::collections::{HashMap, HashSet};

use super::found::Found;
use super::shape::Shape;
use super::words;
use crate::diagnostic::{Code, Diagnostic, Site};
use crate::graph::{
    DEFAULT_ACTION, ERROR_ACTION, Edge, EdgePart, EdgeSource, EdgeTarget, Graph, NodeId, NodeKind,
};

/// The start of an edge, as the analysis understands it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Source {
    Start,
    /// The node has done its work.
    Node(NodeId),
    /// The node has failed.
    Failed(NodeId),
}

/// The values that have been written when an edge is followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Effect {
    Nothing,
    /// The writes of the node's action with this index.
    Action(NodeId, usize),
    /// Any values that the node can write, because the edge's action is not known.
    AnyAction(NodeId),
    /// The failed node's error.
    Failure,
    /// Unknown, because the edge itself is wrong.
    Everything,
}

/// The target of an edge, as the analysis understands it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Target {
    Node(NodeId),
    End,
    /// A target that is not in this graph.
    Lost,
}

/// An edge, as the analysis understands it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Route {
    pub(super) from: Source,
    pub(super) effect: Effect,
    pub(super) to: Target,
    /// True if another edge is for the same action and leads elsewhere. Either of them, or both,
    /// may be meant.
    pub(super) is_one_of_two: bool,
    /// True if a mapping writes a key that is not read at the target, which is reported. The
    /// intended key is not known.
    pub(super) maps_unread: bool,
}

/// All edges, as the analysis understands them, and the facts about nodes that follow from them.
pub(super) struct Routes {
    /// The route of each edge of the graph.
    pub(super) edges: Vec<Route>,
    /// For each node and action, the first edge that routes it, or that was probably meant to.
    pub(super) routed: Vec<Vec<Option<usize>>>,
    /// For each node, true if an edge names it, at either end.
    pub(super) mentioned: Vec<bool>,
    /// The forks and loops that an edge for an action leaves from a part inside, which is reported.
    pub(super) left_from_inside: HashSet<Source>,
}

impl Routes {
    pub(super) fn new(graph: &Graph, shape: &Shape, found: &mut Found) -> Routes {
        let mut resolver = Resolver::new(graph, shape);
        let mut unknown = Vec::new();
        let edges = graph.edges.iter().enumerate();
        let mut routes: Vec<Route> = edges
            .map(|(at, edge)| {
                let to = resolver.target(at, edge, found);
                let (from, effect) = resolver.source(at, edge, &mut unknown, found);
                let inside = matches!(edge.to, EdgeTarget::Node(id) if to != Target::Node(id));
                Route {
                    from,
                    effect: if inside { Effect::Everything } else { effect },
                    to,
                    is_one_of_two: false,
                    maps_unread: false,
                }
            })
            .collect();
        // Only now are the routed actions known, and thus those that the unknown names may stand
        // for.
        for (at, id) in unknown {
            if found.is_full() {
                break;
            }
            let (diagnostic, meant) = resolver.unknown_action(at, id);
            if let Some(diagnostic) = diagnostic {
                found.push(diagnostic);
            }
            let Some(meant) = meant else { continue };
            if routes[at].effect != Effect::Everything {
                routes[at].effect = meant;
            }
            if meant == Effect::Failure {
                routes[at].from = Source::Failed(id);
            }
        }
        mark_rivals(&mut routes);
        // The target of an edge from inside a fork may belong to its branch, and write there.
        for route in &mut routes {
            if resolver.left_from_inside.contains(&route.from) {
                route.effect = Effect::Everything;
            }
        }
        Routes {
            edges: routes,
            routed: resolver.routed,
            mentioned: resolver.mentioned,
            left_from_inside: resolver.left_by_an_action,
        }
    }
}

/// Marks the edges for one action that lead to two places.
fn mark_rivals(routes: &mut [Route]) {
    let mut first: HashMap<(Source, Effect), usize> = HashMap::new();
    for at in 0..routes.len() {
        let Route {
            from, effect, to, ..
        } = routes[at];
        let is_clear =
            matches!(effect, Effect::Action(..) | Effect::Failure) || from == Source::Start;
        if !is_clear {
            continue;
        }
        let rival = *first.entry((from, effect)).or_insert(at);
        if rival != at && routes[rival].to != to {
            routes[rival].is_one_of_two = true;
            routes[at].is_one_of_two = true;
        }
    }
}

/// Resolves the meaning of edges, and keeps the facts about nodes that follow.
pub(super) struct Resolver<'g> {
    pub(super) graph: &'g Graph,
    shape: &'g Shape,
    pub(super) fallible: Vec<bool>,
    pub(super) routed: Vec<Vec<Option<usize>>>,
    mentioned: Vec<bool>,
    /// For each node and name, the first action with that name.
    actions: HashMap<(NodeId, &'g str), usize>,
    /// The nodes without actions for which an edge has been reported.
    pub(super) without_actions: HashSet<NodeId>,
    /// The forks and loops that an edge leaves from a part inside.
    left_from_inside: HashSet<Source>,
    /// Those that an edge for an action leaves, rather than one for an error.
    left_by_an_action: HashSet<Source>,
    /// The number of names that have been compared with misspelt ones.
    pub(super) compared: usize,
}

impl<'g> Resolver<'g> {
    fn new(graph: &'g Graph, shape: &'g Shape) -> Resolver<'g> {
        let mut fallible: Vec<bool> = graph.nodes.iter().map(|node| node.fallible).collect();
        for id in graph.node_ids() {
            let node = graph.node(id);
            // A failure inside a fork or a loop is a failure of the whole fork or loop.
            fallible[shape.outermost(id).0] |= node.fallible;
        }
        let routed = graph
            .nodes
            .iter()
            .map(|node| vec![None; node.actions.len()])
            .collect();
        let mentioned = vec![false; graph.nodes.len()];
        let mut actions = HashMap::new();
        for id in graph.node_ids() {
            for (at, action) in graph.node(id).actions.iter().enumerate() {
                actions.entry((id, action.name.as_str())).or_insert(at);
            }
        }
        Resolver {
            without_actions: HashSet::new(),
            graph,
            shape,
            fallible,
            routed,
            mentioned,
            actions,
            left_from_inside: HashSet::new(),
            left_by_an_action: HashSet::new(),
            compared: 0,
        }
    }

    fn source(
        &mut self,
        at: usize,
        edge: &'g Edge,
        unknown: &mut Vec<(usize, NodeId)>,
        found: &mut Found,
    ) -> (Source, Effect) {
        let id = match edge.from {
            EdgeSource::Start => {
                if let Some(action) = edge
                    .action
                    .as_deref()
                    .filter(|&name| name != DEFAULT_ACTION)
                {
                    found.push(self.start_action(at, edge, action));
                }
                return (Source::Start, Effect::Nothing);
            }
            EdgeSource::Node(id) => id,
        };
        let Some(id) = self.outer(at, EdgePart::From, id, found) else {
            return (Source::Start, Effect::Everything);
        };
        if EdgeSource::Node(id) != edge.from {
            self.left_from_inside.insert(Source::Node(id));
            if edge.action() != ERROR_ACTION {
                self.left_by_an_action.insert(Source::Node(id));
            }
            return (Source::Node(id), Effect::Everything);
        }
        let name = edge.action();
        if let Some(action) = self.action(id, name) {
            self.routed[id.0][action].get_or_insert(at);
            return (Source::Node(id), Effect::Action(id, action));
        }
        if name == ERROR_ACTION {
            if !self.fallible[id.0] {
                found.push(self.cannot_fail(at, id));
            }
            return (Source::Failed(id), Effect::Failure);
        }
        unknown.push((at, id));
        (Source::Node(id), Effect::AnyAction(id))
    }

    pub(super) fn action(&self, id: NodeId, name: &str) -> Option<usize> {
        self.actions.get(&(id, name)).copied()
    }

    fn target(&mut self, at: usize, edge: &Edge, found: &mut Found) -> Target {
        match edge.to {
            EdgeTarget::End(_) => Target::End,
            EdgeTarget::Node(id) => self
                .outer(at, EdgePart::To, id, found)
                .map_or(Target::Lost, Target::Node),
        }
    }

    fn leads_an_error_on(&self, at: usize) -> bool {
        let edge = self.graph.edges.get(at);
        edge.is_some_and(|edge| edge.action() == ERROR_ACTION)
    }

    /// The node itself, or the node that contains it, which is a mistake. `None` if there is no
    /// such node.
    fn outer(
        &mut self,
        at: usize,
        part: EdgePart,
        id: NodeId,
        found: &mut Found,
    ) -> Option<NodeId> {
        let Some(mentioned) = self.mentioned.get_mut(id.0) else {
            let message = format!("this edge names node number {}, which does not exist", id.0);
            found.push(Diagnostic::new(
                Code::UnknownNode,
                Site::Edge(at, part),
                message,
            ));
            return None;
        };
        *mentioned = true;
        let Some(place) = self.shape.place(id) else {
            return Some(id);
        };
        let outermost = self.shape.outermost(id);
        self.mentioned[outermost.0] = true;
        let (name, owner) = (
            words::name(self.graph, id),
            words::name(self.graph, place.owner),
        );
        let verb = if part == EdgePart::From {
            "leave"
        } else {
            "enter"
        };
        // Actions that lead out of a fork are reported at the node itself.
        let mut actions = self.graph.node(id).actions.iter();
        let has_actions = actions.any(|action| action.name != DEFAULT_ACTION);
        let around = self.graph.node(place.owner);
        let is_race = matches!(around.kind, NodeKind::Race(_));
        if part == EdgePart::From && has_actions && !is_race && !self.leads_an_error_on(at) {
            return Some(outermost);
        }
        let message = format!("`{name}` stands inside `{owner}`, so no edge can {verb} it");
        let outermost_name = words::name(self.graph, outermost);
        let help = match part {
            EdgePart::To => format!("lead the edge to `{outermost_name}`"),
            _ if self.leads_an_error_on(at) => format!(
                "the error of a part is that of the whole: `{}`",
                words::step(outermost_name, ERROR_ACTION, "…")
            ),
            _ if is_race => {
                let edge = self.graph.edges.get(at);
                let action = edge.map_or(DEFAULT_ACTION, Edge::action);
                let action = Some(action).filter(|action| around.action(action).is_some());
                let first = around.actions.first().map(|first| first.name.as_str());
                let action = action.or(first).unwrap_or(DEFAULT_ACTION);
                format!(
                    "an edge leads on from the race: `{}`",
                    words::step(outermost_name, action, "…")
                )
            }
            _ => format!(
                "write the step after it into the branch, `[{name} >> …]`, or after the whole of it: `{}`",
                words::step(outermost_name, DEFAULT_ACTION, "…")
            ),
        };
        found.push(Diagnostic::new(Code::ForkShape, Site::Edge(at, part), message).help(help));
        Some(outermost)
    }
}
