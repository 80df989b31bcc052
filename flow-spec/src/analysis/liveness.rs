//! Liveness: finds the values that may be moved out of the state because nothing reads them later.
//!
//! Whoever adds to a value needs it, like a reader.
//!
//! This pass runs only on a sound flow. For each key that some node takes, one search goes back
//! from all its readers, until the key is written anew or no node that takes it can come earlier.
//! If a loop leads back to before a reader, the key lives through the whole loop, which takes time.
//! So the search skips along the dominator tree over every part of the flow that neither writes nor
//! takes the key. All points that can come before such a part come before its topmost point.

use std::collections::{HashMap, HashSet, VecDeque};

use super::components::Components;
use super::dominators::Dominators;
use super::keys::Key;
use super::model::Model;
use super::points::{Point, point_of};
use super::shape::Place;
use crate::graph::{DEFAULT_ACTION, NodeId, NodeKind, NodeRead, ReadMode};

/// The treatment of a value that a node or a mapping of an edge takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Take {
    /// Move it out of the state: no path reads it later.
    Move,
    /// Clone it: something may read it later.
    Clone {
        /// The first reader found on a path from here.
        later: Reader,
    },
}

/// The reader of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reader {
    /// A node.
    Node(NodeId),
    /// A node that adds to the value.
    Adder(NodeId),
    /// A mapping of the edge with this index.
    Edge(usize),
    /// The flow itself, which returns the value.
    Output,
}

/// The treatment of each value that is taken.
#[derive(Debug, Clone)]
pub(super) struct Takes {
    /// For each read of each node.
    pub(super) nodes: Vec<Vec<Take>>,
    /// For each mapping of each edge.
    pub(super) edges: Vec<Vec<Take>>,
}

/// Returns the treatment of each value that is taken.
pub(super) fn takes(model: &Model<'_>, components: &Components, tree: &Dominators) -> Takes {
    let unknown = Take::Clone {
        later: Reader::Output,
    };
    let (nodes, edges) = (model.graph.nodes.iter(), model.graph.edges.iter());
    let mut takes = Takes {
        nodes: (nodes.map(|node| vec![unknown; node.reads.len()])).collect(),
        edges: (edges.map(|edge| vec![unknown; edge.mappings.len()])).collect(),
    };
    let mut search = Search::new(model, components, tree);
    for key in model.keys.iter() {
        let is_taken = |&(id, at): &(NodeId, usize)| read(model, id, at).mode == ReadMode::Take;
        let by_nodes: Vec<(NodeId, usize)> = key.reads.iter().copied().filter(is_taken).collect();
        let points = by_nodes.iter().map(|&(id, _)| point_of(id));
        let points = points.chain(key.mappings.iter().map(|mapping| mapping.at));
        let races: HashSet<NodeId> = by_nodes
            .iter()
            .flat_map(|&(id, _)| races_around(model, id))
            .map(|(_, place)| place.owner)
            .collect();
        let branches = races.iter().flat_map(|&race| model.points.branches(race));
        let points: Vec<usize> = points.chain(branches.copied()).collect();
        if points.is_empty() {
            continue;
        }
        search.run(key, &points);
        let later = |at| match search.later(at) {
            Some(later) => Take::Clone { later },
            None => Take::Move,
        };
        let readers: HashMap<NodeId, Readers> = races
            .iter()
            .map(|&race| (race, Readers::of(model, race, &search)))
            .collect();
        for &(id, at) in &by_nodes {
            // All branches of a race begin, so a value that one of them takes may be missed by
            // another, or by what follows it.
            let beside = races_around(model, id)
                .filter(|&(part, place)| !writes_before(model, key.name, part, place))
                .find_map(|(_, place)| readers.get(&place.owner)?.outside(place.branch));
            let immediate = immediate_reader(model, key, id, at);
            takes.nodes[id.0][at] = match immediate.or(beside) {
                Some(later) => Take::Clone { later },
                None => later(point_of(id)),
            };
        }
        for mapping in &key.mappings {
            takes.edges[mapping.edge][mapping.index] = later(mapping.at);
        }
    }
    takes
}

/// The places of a node in the races around it, each with the node of the branch that it is, or is
/// in.
fn races_around(model: &Model<'_>, id: NodeId) -> impl Iterator<Item = (NodeId, Place)> {
    let at = move |part| Some((part, model.shape.place(part)?));
    let around = std::iter::successors(at(id), move |&(_, place)| at(place.owner));
    around.filter(|(_, place)| matches!(model.graph.node(place.owner).kind, NodeKind::Race(_)))
}

/// Returns `true` if a node before this one in its branch always replaces the key, so that the
/// value is the branch's own.
fn writes_before(model: &Model<'_>, key: &str, part: NodeId, place: Place) -> bool {
    let chain = &model.shape.chains(place.owner)[place.branch];
    let earlier = chain.iter().take_while(|&&other| other != part);
    let done = earlier.filter_map(|&id| model.graph.node(id).action(DEFAULT_ACTION));
    let mut writes = done.flat_map(|action| &action.writes);
    writes.any(|write| write.key == key && !write.optional && !write.adds)
}

/// The first reader of a key in a race or behind it, with the branch that leads to it, and the
/// first one to which another branch leads.
#[derive(Default)]
struct Readers {
    first: Option<(usize, Reader)>,
    other: Option<Reader>,
}

impl Readers {
    fn of(model: &Model<'_>, race: NodeId, search: &Search<'_, '_>) -> Readers {
        let mut readers = Readers::default();
        for (branch, &at) in model.points.branches(race).iter().enumerate() {
            let Some(later) = search.later(at) else {
                continue;
            };
            if readers.first.is_none() {
                readers.first = Some((branch, later));
            } else {
                readers.other.get_or_insert(later);
            }
        }
        readers
    }

    fn outside(&self, branch: usize) -> Option<Reader> {
        match self.first {
            Some((first, _)) if first == branch => self.other,
            first => first.map(|(_, reader)| reader),
        }
    }
}

fn read<'g>(model: &Model<'g>, id: NodeId, at: usize) -> &'g NodeRead {
    &model.graph.node(id).reads[at]
}

/// Another reader that needs the value, regardless of the nodes that follow.
fn immediate_reader(model: &Model<'_>, key: &Key<'_>, id: NodeId, at: usize) -> Option<Reader> {
    let others = model.graph.node(id).reads.iter().enumerate();
    let mut others = others.filter(|(other, read)| *other != at && read.key == key.name);
    if others.any(|(other, read)| other > at || read.mode == ReadMode::Borrow) {
        return Some(Reader::Node(id));
    }
    // An undo node takes its own copy.
    if model.undos.is_undo(id) {
        return None;
    }
    if let Some(reader) = model.forks.reads_meanwhile(&model.shape, id, key.name) {
        return Some(Reader::Node(reader));
    }
    if let Some(adder) = model.forks.adds_meanwhile(&model.shape, id, key.name) {
        return Some(Reader::Adder(adder));
    }
    // In a loop the node runs again, and only the item is a new one each time.
    let mut inner = id;
    while let Some(place) = model.shape.place(inner) {
        if let NodeKind::Each { item, .. } = &model.graph.node(place.owner).kind {
            return (item != key.name).then_some(Reader::Node(id));
        }
        inner = place.owner;
    }
    None
}

/// Finds the next reader of a value, for one key after the other.
struct Search<'a, 'g> {
    model: &'a Model<'g>,
    components: &'a Components,
    tree: &'a Dominators,
    ends: Vec<usize>,
    /// The points that take the key and those that write it, as ascending numbers of the tree.
    marks: Vec<usize>,
    question: usize,
    /// For each number of the tree, the last question for which it was searched, or for which it is
    /// relevant.
    searched: Vec<usize>,
    written: Vec<usize>,
    taking: Vec<usize>,
    found: Vec<usize>,
    next_reader: Vec<Reader>,
}

impl<'a, 'g> Search<'a, 'g> {
    fn new(
        model: &'a Model<'g>,
        components: &'a Components,
        tree: &'a Dominators,
    ) -> Search<'a, 'g> {
        let kinds = &model.points.kinds;
        let is_end = |&at: &usize| matches!(kinds[at], Point::End(_));
        Search {
            model,
            components,
            tree,
            ends: (0..kinds.len()).filter(is_end).collect(),
            marks: Vec::new(),
            question: 0,
            searched: vec![0; tree.len()],
            written: vec![0; tree.len()],
            taking: vec![0; tree.len()],
            found: vec![0; tree.len()],
            next_reader: vec![Reader::Output; tree.len()],
        }
    }

    /// Finds the next reader of the key after each of the points that take it.
    fn run(&mut self, key: &Key<'_>, taken: &[usize]) {
        let (model, tree) = (self.model, self.tree);
        let mut wanted = self.mark(key, taken);
        let components = taken.iter().map(|&at| self.components.of(at));
        let Some(earliest) = components.max() else {
            return;
        };
        let ends = if key.output {
            self.ends.as_slice()
        } else {
            &[]
        };
        let nodes = key.reads.iter();
        let nodes = nodes.map(|&(id, _)| (point_of(id), Reader::Node(id)));
        let adders = key.added_at.iter();
        let adders = adders.map(|&(at, id)| (at, Reader::Adder(id)));
        let edges = key.mappings.iter();
        let edges = edges.map(|mapping| (mapping.at, Reader::Edge(mapping.edge)));
        let mut waiting: VecDeque<(usize, Reader)> = nodes
            .chain(adders)
            .chain(edges)
            .chain(ends.iter().map(|&at| (at, Reader::Output)))
            .filter_map(|(at, reader)| Some((tree.number(at)?, reader)))
            .collect();
        while wanted > 0
            && let Some((number, reader)) = waiting.pop_front()
        {
            let (top, is_clear) = self.leap(number);
            if std::mem::replace(&mut self.searched[top], self.question) == self.question {
                continue;
            }
            for &point in model.points.predecessors.of(tree.vertex(top)) {
                let Some(before) = tree.number(point) else {
                    continue;
                };
                let is_passed = is_clear && tree.dominates(top, before);
                let is_too_early = self.components.of(point) > earliest;
                if is_passed || is_too_early || self.written[before] == self.question {
                    continue;
                }
                if self.found[before] != self.question {
                    self.found[before] = self.question;
                    self.next_reader[before] = reader;
                    wanted -= usize::from(self.taking[before] == self.question);
                }
                waiting.push_back((before, reader));
            }
        }
    }

    /// Marks the relevant points. Returns the number of points that take the key.
    fn mark(&mut self, key: &Key<'_>, taken: &[usize]) -> usize {
        self.question += 1;
        self.marks.clear();
        let replaced_at = key.replaced_at();
        for number in replaced_at.filter_map(|at| self.tree.number(at)) {
            self.written[number] = self.question;
            self.marks.push(number);
        }
        let mut taking = 0;
        for number in taken.iter().filter_map(|&at| self.tree.number(at)) {
            if std::mem::replace(&mut self.taking[number], self.question) != self.question {
                self.marks.push(number);
                taking += 1;
            }
        }
        self.marks.sort_unstable();
        taking
    }

    /// The highest dominator without a mark below it, and `true`; or the point itself and `false`,
    /// if there is none.
    fn leap(&self, number: usize) -> (usize, bool) {
        if self.tree.is_above_any(&self.marks, number) {
            return (number, false);
        }
        match self.tree.lowest_beside(&self.marks, number) {
            Some(above) => (self.tree.child_towards(above, number), true),
            None => (number, true),
        }
    }

    /// The reader of the value after it was taken at this point, if there is one.
    fn later(&self, at: usize) -> Option<Reader> {
        let number = self.tree.number(at)?;
        (self.found[number] == self.question).then_some(self.next_reader[number])
    }
}
