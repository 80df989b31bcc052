//! The keys of a flow, each with a number, and their readers and writers.

use std::collections::HashMap;

use super::points::{Point, Points};
use super::routes::{Effect, Routes};
use super::shape::Shape;
use super::undo::Undos;
use crate::graph::{DEFAULT_ACTION, ERROR_KEY, Graph, NodeId, NodeKind, NodeWrite};

/// Every key that the flow mentions.
pub(super) struct Keys<'g> {
    numbers: HashMap<&'g str, usize>,
    list: Vec<Key<'g>>,
}

/// One key.
#[derive(Default)]
pub(super) struct Key<'g> {
    pub(super) name: &'g str,
    /// The first input of this name.
    pub(super) input: Option<usize>,
    /// True if the caller always passes it.
    pub(super) given: bool,
    /// True if the flow returns it.
    pub(super) output: bool,
    /// The nodes that read it, each with the index of the read.
    pub(super) reads: Vec<(NodeId, usize)>,
    /// The mappings of edges that read it.
    pub(super) mappings: Vec<MappingRead>,
    /// The nodes that can write it so that others see it, even if nothing leads to them.
    pub(super) writers: Vec<NodeId>,
    /// The loop inside which it exists for each item. It is then irrelevant for the rest of the
    /// flow.
    pub(super) loop_only: Option<NodeId>,
    /// The nodes among them that only add to it.
    pub(super) adders: Vec<NodeId>,
    /// True if an undo node writes it, which nobody sees.
    pub(super) by_undo: bool,
    /// The points that add to its value, each with the node that does.
    pub(super) added_at: Vec<(usize, NodeId)>,
    /// The points that always write it, also by adding to it.
    pub(super) written_at: Vec<usize>,
    /// The points of `written_at` that are edges with a mapping, each with the key that the mapping
    /// reads.
    pub(super) mapped_at: Vec<(usize, &'g str)>,
}

/// A mapping of an edge, as a reader.
#[derive(Clone, Copy)]
pub(super) struct MappingRead {
    /// The point where it reads.
    pub(super) at: usize,
    pub(super) edge: usize,
    /// Its index among the mappings of the edge.
    pub(super) index: usize,
}

impl Key<'_> {
    /// The points that always replace its value.
    pub(super) fn replaced_at(&self) -> impl Iterator<Item = usize> {
        let adds = |at: &usize| self.added_at.iter().any(|(adds, _)| adds == at);
        self.written_at.iter().copied().filter(move |at| !adds(at))
    }

    /// Returns `true` if a node or a mapping reads it.
    pub(super) fn is_read(&self) -> bool {
        !self.reads.is_empty() || !self.mappings.is_empty()
    }
}

impl<'g> Keys<'g> {
    pub(super) fn new(
        graph: &'g Graph,
        shape: &Shape,
        undos: &Undos,
        routes: &Routes,
        points: &Points,
    ) -> Keys<'g> {
        let mut keys = Keys {
            numbers: HashMap::new(),
            list: Vec::new(),
        };
        for (at, input) in graph.inputs.iter().enumerate() {
            let key = keys.enter(&input.key);
            key.input.get_or_insert(at);
            key.given |= !input.optional;
        }
        for output in &graph.outputs {
            keys.enter(&output.key).output = true;
        }
        for id in graph.node_ids() {
            for (at, read) in graph.node(id).reads.iter().enumerate() {
                keys.enter(&read.key).reads.push((id, at));
            }
            if undos.is_undo(id) {
                keys.enter_undo(graph, id);
                continue;
            }
            let within = loop_around(graph, shape, id);
            for write in graph
                .node(id)
                .actions
                .iter()
                .flat_map(|action| &action.writes)
            {
                let key = keys.enter(&write.key);
                if let Some(within) = within {
                    key.loop_only.get_or_insert(within);
                } else if key.writers.last() != Some(&id) {
                    key.writers.push(id);
                }
            }
            keys.enter_adders(graph, id);
        }
        for (at, point) in points.kinds.iter().enumerate() {
            keys.enter_point(graph, shape, routes, at, *point);
        }
        keys
    }

    /// Enters the keys that an undo node writes.
    fn enter_undo(&mut self, graph: &'g Graph, id: NodeId) {
        let actions = graph.node(id).actions.iter();
        for write in actions.flat_map(|action| &action.writes) {
            self.enter(&write.key).by_undo = true;
        }
    }

    /// Enters the keys to which a node adds, and does nothing else.
    fn enter_adders(&mut self, graph: &'g Graph, id: NodeId) {
        let writes = || {
            let actions = graph.node(id).actions.iter();
            actions.flat_map(|action| &action.writes)
        };
        for write in writes().filter(|write| write.adds) {
            let replaces = writes().any(|other| !other.adds && other.key == write.key);
            let key = self.enter(&write.key);
            if !replaces && key.adders.last() != Some(&id) {
                key.adders.push(id);
            }
        }
    }

    fn enter(&mut self, name: &'g str) -> &mut Key<'g> {
        let number = *self.numbers.entry(name).or_insert(self.list.len());
        if number == self.list.len() {
            self.list.push(Key {
                name,
                ..Key::default()
            });
        }
        &mut self.list[number]
    }

    /// Enters the keys written at a point, and those read there by the mappings of an edge.
    fn enter_point(
        &mut self,
        graph: &'g Graph,
        shape: &Shape,
        routes: &Routes,
        at: usize,
        point: Point,
    ) {
        let mut enter_writes = |id: NodeId, writes: &'g [NodeWrite]| {
            for write in writes {
                let key = self.enter(&write.key);
                if write.adds {
                    key.added_at.push((at, id));
                }
                if !write.optional {
                    key.written_at.push(at);
                }
            }
        };
        match point {
            Point::Start
            | Point::Node(_)
            | Point::Branch(_)
            | Point::Won(_)
            | Point::Failed(_)
            | Point::End(_) => {}
            Point::Decided(id, action) => {
                enter_writes(id, &graph.node(id).actions[action].writes);
            }
            Point::Item(id) => {
                if let NodeKind::Each { item, .. } = &graph.node(id).kind {
                    let key = self.enter(item);
                    key.loop_only.get_or_insert(id);
                    key.written_at.push(at);
                }
            }
            Point::Done(id) => {
                if shape.place(id).is_some()
                    && let Some(action) = graph.node(id).action(DEFAULT_ACTION)
                {
                    enter_writes(id, &action.writes);
                }
            }
            Point::Mapping(edge) => {
                for (index, mapping) in graph.edges[edge].mappings.iter().enumerate() {
                    let read = MappingRead { at, edge, index };
                    self.enter(&mapping.source).mappings.push(read);
                }
            }
            Point::Mapped(edge) => {
                for mapping in &graph.edges[edge].mappings {
                    let key = self.enter(&mapping.key);
                    key.written_at.push(at);
                    key.mapped_at.push((at, &mapping.source));
                }
            }
            Point::Edge(edge) => match routes.edges[edge].effect {
                Effect::Nothing | Effect::Everything => {}
                Effect::Action(id, action) => {
                    enter_writes(id, &graph.node(id).actions[action].writes);
                }
                Effect::Failure => self.enter(ERROR_KEY).written_at.push(at),
                Effect::AnyAction(id) => {
                    graph
                        .node(id)
                        .actions
                        .iter()
                        .for_each(|action| enter_writes(id, &action.writes));
                    self.enter(ERROR_KEY).written_at.push(at);
                }
            },
        }
    }

    /// The key with this name.
    pub(super) fn get(&self, name: &str) -> Option<&Key<'g>> {
        self.numbers.get(name).map(|&number| &self.list[number])
    }

    /// Every key, in the order of the first mention.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Key<'g>> {
        self.list.iter()
    }
}

/// The loop that runs this node for each item, and collects the values that it writes.
fn loop_around(graph: &Graph, shape: &Shape, id: NodeId) -> Option<NodeId> {
    let owner = shape.place(id)?.owner;
    matches!(graph.node(owner).kind, NodeKind::Each { .. }).then_some(owner)
}
