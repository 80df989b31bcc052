//! The flow as single points that a run passes, with forks, races and loops flattened.
//!
//! A fork needs an order here, although its branches have none. They are placed one after the
//! other, since all of them have run when the fork is done. The pass on forks handles that a branch
//! does not see the writes of another one.
//!
//! A run takes one of the branches of a race.

use std::collections::{HashMap, HashSet};

use super::adjacency::Adjacency;
use super::dominators::Dominators;
use super::routes::{Effect, Routes, Source, Target};
use super::shape::Shape;
use super::undo::{Undos, is_done_by};
use crate::graph::{DEFAULT_ACTION, Graph, NodeId, NodeKind, RaceBranch};

/// A point that a run passes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Point {
    /// The flow has been called.
    Start,
    /// The node is reached, and reads.
    Node(NodeId),
    /// The next item of a loop is available.
    Item(NodeId),
    /// A fork, race or loop, or a node inside one, has done its work. Inside, its writes happen
    /// here.
    Done(NodeId),
    /// A branch of a race begins.
    Branch(NodeId),
    /// The last node of a branch of a race has taken the action with this index, whose writes
    /// happen here.
    Decided(NodeId, usize),
    /// A branch of the race is the first one that is done.
    Won(NodeId),
    /// Something inside a fork or loop has failed.
    Failed(NodeId),
    /// An edge is followed, which writes the values of its action.
    Edge(usize),
    /// The mappings of an edge read.
    Mapping(usize),
    /// The mappings of an edge write.
    Mapped(usize),
    /// The flow has ended, by the edge with this index.
    End(usize),
}

/// All points of a flow, with their successors.
pub(super) struct Points {
    pub(super) kinds: Vec<Point>,
    pub(super) successors: Adjacency,
    pub(super) predecessors: Adjacency,
    /// The points without successors: the ends, and wrong edges without a target.
    pub(super) finals: Vec<usize>,
    /// The edges about which nothing is known. No path through them shows a mistake.
    pub(super) unclear: Vec<bool>,
    exits: Vec<usize>,
    /// The points where the branches of each race begin.
    branches: HashMap<NodeId, Vec<usize>>,
}

/// The point where a run begins.
pub(super) const START: usize = 0;

/// The point where the node is reached.
pub(super) fn point_of(id: NodeId) -> usize {
    id.0 + 1
}

impl Points {
    pub(super) fn new(graph: &Graph, shape: &Shape, undos: &Undos, routes: &Routes) -> Points {
        let mut layout = Layout::new(graph, shape);
        for id in graph.node_ids() {
            layout.inner(graph, shape, id);
        }
        layout.undone_inside(graph, shape, undos);
        let mut finals = Vec::new();
        let mut unclear_edges = Vec::new();
        for (edge, route) in routes.edges.iter().enumerate() {
            let from = match route.from {
                Source::Start => START,
                Source::Node(id) => layout.exit_by(id, route.effect),
                Source::Failed(id) => layout.failed(shape, id),
            };
            let at = layout.add(Point::Edge(edge));
            layout.arcs.push((from, at));
            layout.undone(graph, undos, route.from, route.effect, at);
            // The nodes inside a race write, so an unknown action of it shows nothing.
            let is_unknown = match route.effect {
                Effect::Everything => true,
                Effect::AnyAction(id) => layout.branches.contains_key(&id),
                _ => false,
            };
            if is_unknown || route.is_one_of_two || route.maps_unread {
                unclear_edges.push(at);
            }
            let last = match graph.edges[edge].mappings[..] {
                [] => at,
                _ => layout.mapped(edge, at),
            };
            match route.to {
                Target::Node(id) => layout.arcs.push((last, point_of(id))),
                Target::Lost => finals.push(last),
                Target::End => {
                    let end = layout.add(Point::End(edge));
                    layout.arcs.push((last, end));
                    finals.push(end);
                }
            }
        }
        let count = layout.kinds.len();
        let mut unclear = vec![false; count];
        unclear_edges.into_iter().for_each(|at| unclear[at] = true);
        Points {
            successors: Adjacency::new(count, layout.arcs.iter().copied()),
            predecessors: Adjacency::new(count, layout.arcs.iter().map(|&(from, to)| (to, from))),
            exits: graph.node_ids().map(|id| layout.exit_of_all(id)).collect(),
            branches: layout.branches,
            kinds: layout.kinds,
            finals,
            unclear,
        }
    }

    /// The points that every clear path from `start` to a point must pass.
    pub(super) fn dominators(&self) -> Dominators {
        let open = |point: usize| !self.unclear[point];
        Dominators::new(&self.successors, &self.predecessors, START, open)
    }

    /// A point from which all edges of the node are reached, and no others.
    pub(super) fn exit(&self, id: NodeId) -> usize {
        self.exits[id.0]
    }

    /// The points where the branches of a race begin, in the order written. Empty for other nodes.
    pub(super) fn branches(&self, race: NodeId) -> &[usize] {
        self.branches.get(&race).map_or(&[], Vec::as_slice)
    }
}

struct Layout {
    kinds: Vec<Point>,
    arcs: Vec<(usize, usize)>,
    done: Vec<Option<usize>>,
    failed: Vec<Option<usize>>,
    /// The points where the branches of each race begin.
    branches: HashMap<NodeId, Vec<usize>>,
    /// The points where a branch of a race has won, by the race and the index of the action.
    won: HashMap<(NodeId, usize), usize>,
}

impl Layout {
    fn new(graph: &Graph, shape: &Shape) -> Layout {
        let mut kinds = vec![Point::Start];
        kinds.extend(graph.node_ids().map(Point::Node));
        let failed = vec![None; graph.nodes.len()];
        let mut layout = Layout {
            kinds,
            arcs: Vec::new(),
            done: Vec::new(),
            failed,
            branches: HashMap::new(),
            won: HashMap::new(),
        };
        for id in graph.node_ids() {
            let inside = shape.place(id).is_some();
            let done = (inside || holds_others(graph, id)).then(|| layout.add(Point::Done(id)));
            layout.done.push(done);
        }
        layout
    }

    fn add(&mut self, point: Point) -> usize {
        self.kinds.push(point);
        self.kinds.len() - 1
    }

    /// The point where the mappings of an edge have been applied.
    fn mapped(&mut self, edge: usize, at: usize) -> usize {
        let reads = self.add(Point::Mapping(edge));
        let writes = self.add(Point::Mapped(edge));
        self.arcs.extend([(at, reads), (reads, writes)]);
        writes
    }

    /// The point where the node has done its work.
    fn exit(&self, id: NodeId) -> usize {
        self.done[id.0].unwrap_or(point_of(id))
    }

    /// The point from which an edge with this effect leaves the node.
    fn exit_by(&self, id: NodeId, effect: Effect) -> usize {
        let won = match effect {
            Effect::Action(id, action) => self.won.get(&(id, action)),
            _ => None,
        };
        won.copied().unwrap_or_else(|| self.exit_of_all(id))
    }

    /// A point from which all edges of the node are reached, and no others.
    fn exit_of_all(&self, id: NodeId) -> usize {
        if self.branches.contains_key(&id) {
            return point_of(id);
        }
        self.exit(id)
    }

    /// The point where the node has failed: anything inside it may have run before.
    fn failed(&mut self, shape: &Shape, id: NodeId) -> usize {
        if shape.chains(id).is_empty() {
            return point_of(id);
        }
        if let Some(failed) = self.failed[id.0] {
            return failed;
        }
        let failed = self.add(Point::Failed(id));
        self.failed[id.0] = Some(failed);
        self.arcs.push((point_of(id), failed));
        self.arcs.extend(
            shape
                .inside(id)
                .into_iter()
                .map(|part| (point_of(part), failed)),
        );
        failed
    }

    /// Adds the arcs from the point where a node is reached to the point where it is done, if these
    /// differ.
    fn inner(&mut self, graph: &Graph, shape: &Shape, id: NodeId) {
        let Some(done) = self.done[id.0] else { return };
        let chains = shape.chains(id);
        if let NodeKind::Race(branches) = &graph.node(id).kind {
            return self.race(graph, shape, id, branches);
        }
        if let NodeKind::Each { .. } = graph.node(id).kind {
            self.arcs.push((point_of(id), done));
            if let Some(&body) = chains.iter().flatten().next() {
                let item = self.add(Point::Item(id));
                let body_done = self.exit(body);
                self.arcs.push((point_of(id), item));
                self.arcs.push((item, point_of(body)));
                self.arcs.push((body_done, item));
                self.arcs.push((body_done, done));
            }
            return;
        }
        let mut before = point_of(id);
        for &part in chains.iter().flatten() {
            self.arcs.push((before, point_of(part)));
            before = self.exit(part);
        }
        self.arcs.push((before, done));
    }

    /// Adds the arcs to undo nodes of nodes inside forks and races, from the points where these
    /// are done.
    fn undone_inside(&mut self, graph: &Graph, shape: &Shape, undos: &Undos) {
        let kinds = self.kinds.iter().enumerate();
        let decides: HashSet<NodeId> = (kinds.clone())
            .filter_map(|(_, kind)| match kind {
                Point::Decided(id, _) => Some(*id),
                _ => None,
            })
            .collect();
        for (at, kind) in kinds {
            let undo = match *kind {
                Point::Done(id) if shape.place(id).is_some() && !decides.contains(&id) => {
                    undos.of(id)
                }
                Point::Decided(id, action) if is_done_by(&graph.node(id).actions[action].name) => {
                    undos.of(id)
                }
                _ => None,
            };
            self.arcs.extend(undo.map(|undo| (at, point_of(undo))));
        }
    }

    /// Adds the arc to the undo node of the node that this edge leaves, if its visit is done.
    fn undone(&mut self, graph: &Graph, undos: &Undos, from: Source, effect: Effect, at: usize) {
        let Source::Node(id) = from else { return };
        let is_done = match effect {
            Effect::Action(of, action) => is_done_by(&graph.node(of).actions[action].name),
            _ => true,
        };
        if let Some(undo) = undos.of(id).filter(|_| is_done) {
            self.arcs.push((at, point_of(undo)));
        }
    }

    /// Adds the arcs through each branch of a race to the points where it has won.
    fn race(&mut self, graph: &Graph, shape: &Shape, race: NodeId, branches: &[RaceBranch]) {
        let names = graph.node(race).actions.iter();
        let names: Vec<&str> = names.map(|action| action.name.as_str()).collect();
        for index in 0..names.len() {
            let won = self.add(Point::Won(race));
            self.won.insert((race, index), won);
            if shape.place(race).is_some() {
                self.arcs.push((won, self.exit(race)));
            }
        }
        for (branch, chain) in branches.iter().zip(shape.chains(race)) {
            let mut before = self.add(Point::Branch(race));
            self.branches.entry(race).or_default().push(before);
            self.arcs.push((point_of(race), before));
            for &part in chain {
                self.arcs.push((before, point_of(part)));
                before = self.exit(part);
            }
            let Some(&last) = chain.last() else { continue };
            let won = |layout: &mut Layout, at, name: &str| {
                let index = names.iter().position(|action| *action == name);
                let won = index.and_then(|index| layout.won.get(&(race, index)));
                if let Some(&won) = won {
                    layout.arcs.push((at, won));
                }
            };
            let actions = &graph.node(last).actions;
            match &branch.action {
                Some(label) => won(self, before, label),
                None if matches!(&actions[..], [only] if only.name == DEFAULT_ACTION) => {
                    won(self, before, DEFAULT_ACTION);
                }
                None => {
                    for (index, action) in actions.iter().enumerate() {
                        let decided = self.add(Point::Decided(last, index));
                        self.arcs.push((point_of(last), decided));
                        won(self, decided, &action.name);
                    }
                }
            }
        }
    }
}

fn holds_others(graph: &Graph, id: NodeId) -> bool {
    matches!(
        graph.node(id).kind,
        NodeKind::Fork(_) | NodeKind::Race(_) | NodeKind::Each { .. }
    )
}
