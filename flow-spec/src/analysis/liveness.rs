//! Liveness: which values may be moved out of the store because nothing reads them later.
//!
//! Asked only of a sound flow. For each key that some node takes, one search goes back from all its readers and
//! stops where the key is written anew; it does not go further back than the first node that takes the key.

use std::collections::VecDeque;

use super::Model;
use super::Take;
use super::components::Components;
use super::keys::Key;
use super::points::{Point, point_of};
use crate::graph::{Node, NodeId, NodeKind, Read, ReadMode};

/// What to do with each value, for each read of each node.
pub(super) fn takes(model: &Model<'_>, components: &Components) -> Vec<Vec<Take>> {
    let unknown = |node: &Node| vec![Take::Clone { later: None }; node.reads.len()];
    let mut takes: Vec<Vec<Take>> = model.graph.nodes.iter().map(unknown).collect();
    let mut search = Search::new(model, components);
    for key in model.keys.iter() {
        let is_taken = |&(id, at): &(NodeId, usize)| read(model, id, at).mode == ReadMode::Take;
        let taken: Vec<(NodeId, usize)> = key.reads.iter().copied().filter(is_taken).collect();
        if taken.is_empty() {
            continue;
        }
        search.run(key, &taken);
        for &(id, at) in &taken {
            takes[id.0][at] = match immediate_reader(model, key, id, at) {
                Some(later) => Take::Clone { later: Some(later) },
                None => search
                    .later(point_of(id))
                    .map_or(Take::Move, |later| Take::Clone { later }),
            };
        }
    }
    takes
}

fn read<'g>(model: &Model<'g>, id: NodeId, at: usize) -> &'g Read {
    &model.graph.node(id).reads[at]
}

/// A reader that needs the value beside this one, whatever comes after the node.
fn immediate_reader(model: &Model<'_>, key: &Key<'_>, id: NodeId, at: usize) -> Option<NodeId> {
    let others = model.graph.node(id).reads.iter().enumerate();
    let mut others = others.filter(|(other, read)| *other != at && read.key == key.name);
    if others.any(|(other, read)| other > at || read.mode == ReadMode::Borrow) {
        return Some(id);
    }
    if let Some(reader) = model.forks.reads_meanwhile(&model.shape, id, key.name) {
        return Some(reader);
    }
    // In an item loop the node runs again, and only the item is a new one each time.
    let mut inner = id;
    while let Some(place) = model.shape.place(inner) {
        if let NodeKind::Each { item, .. } = &model.graph.node(place.owner).kind {
            return (item != key.name).then_some(id);
        }
        inner = place.owner;
    }
    None
}

/// For one key after the other, who reads its value next.
struct Search<'a, 'g> {
    model: &'a Model<'g>,
    components: &'a Components,
    ends: Vec<usize>,
    question: usize,
    /// For each point, the question for which the entries below hold.
    written: Vec<usize>,
    reading: Vec<usize>,
    asked: Vec<usize>,
    next_reader: Vec<Option<NodeId>>,
}

impl<'a, 'g> Search<'a, 'g> {
    fn new(model: &'a Model<'g>, components: &'a Components) -> Search<'a, 'g> {
        let kinds = &model.points.kinds;
        let is_end = |&at: &usize| matches!(kinds[at], Point::End(_));
        Search {
            model,
            components,
            ends: (0..kinds.len()).filter(is_end).collect(),
            question: 0,
            written: vec![0; kinds.len()],
            reading: vec![0; kinds.len()],
            asked: vec![0; kinds.len()],
            next_reader: vec![None; kinds.len()],
        }
    }

    /// Finds who reads the key after each of the nodes that take it.
    fn run(&mut self, key: &Key<'_>, taken: &[(NodeId, usize)]) {
        self.question += 1;
        let of = |&(id, _): &(NodeId, usize)| self.components.of(point_of(id));
        let Some(earliest) = taken.iter().map(of).max() else {
            return;
        };
        key.written_at
            .iter()
            .for_each(|&at| self.written[at] = self.question);
        let ends = if key.output {
            self.ends.as_slice()
        } else {
            &[]
        };
        let readers = key.reads.iter().map(|&(id, _)| (point_of(id), Some(id)));
        let mut waiting: VecDeque<(usize, Option<NodeId>)> =
            readers.chain(ends.iter().map(|&at| (at, None))).collect();
        waiting
            .iter()
            .for_each(|&(at, _)| self.reading[at] = self.question);
        while let Some((at, reader)) = waiting.pop_front() {
            for &before in self.model.points.predecessors.of(at) {
                let is_new = self.asked[before] != self.question;
                if !is_new || self.components.of(before) > earliest {
                    continue;
                }
                self.asked[before] = self.question;
                self.next_reader[before] = reader;
                if self.reading[before] != self.question && self.written[before] != self.question {
                    waiting.push_back((before, reader));
                }
            }
        }
    }

    /// Who reads the value after it has been taken at this point, if anyone does.
    fn later(&self, at: usize) -> Option<Option<NodeId>> {
        (self.asked[at] == self.question).then_some(self.next_reader[at])
    }
}
