//! A branch of a fork or a race: its writes, and the values that it takes from the flow's state at its start.
//!
//! Values are taken before, because running branches can only read the flow's state.

use std::collections::HashSet;

use flow_spec::{Graph, NodeId, NodeKind, ReadMode, Take};

use super::{Plan, ReadIndex, Slot};

/// A branch, with the state of its own that it needs.
pub(in crate::flow) struct BranchPlan<'a> {
    /// The fork or the race.
    pub(in crate::flow) owner: NodeId,
    /// The index of the branch.
    pub(in crate::flow) number: usize,
    /// Its nodes.
    pub(in crate::flow) chain: &'a [NodeId],
    /// The keys that a node writes, by the node's position in the chain.
    writes: Vec<Vec<BranchWrite<'a>>>,
    /// The keys that a node reads, or the body of a loop, by the node's position in the chain.
    reads: Vec<HashSet<&'a str>>,
    /// The keys that are kept when a node is done, by the node's position in the chain.
    undo_reads: Vec<HashSet<&'a str>>,
    /// The reads whose values are taken from the state at the fork.
    pub(in crate::flow) takes: Vec<TakenBy>,
    /// The reads among them that leave the key empty.
    moves: Vec<(&'a str, TakenBy)>,
}

struct BranchWrite<'a> {
    key: &'a str,
    /// True if the node may leave it unwritten.
    optional: bool,
    adds: bool,
}

/// How a branch adds to a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::flow) enum Addition {
    /// To the value that it has itself, since it also replaces it.
    ToOwn {
        /// True if it has certainly replaced the value before.
        replaced: bool,
    },
    /// To the flow's value, when all branches are done.
    AtJoin {
        /// True if a later node of the branch reads the key, and so sees what was added.
        seen: bool,
    },
}

/// The read for which a value was taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::flow) struct TakenBy {
    pub(in crate::flow) node: NodeId,
    pub(in crate::flow) read: ReadIndex,
}

impl<'a> BranchPlan<'a> {
    pub(super) fn new(plan: &Plan<'a>, owner: NodeId, number: usize, chain: &'a [NodeId]) -> Self {
        let graph = plan.resolved.graph.graph();
        let mut branch = BranchPlan {
            owner,
            number,
            chain,
            writes: chain.iter().map(|&node| writes(graph, node)).collect(),
            reads: chain.iter().map(|&node| reads(graph, node)).collect(),
            undo_reads: chain.iter().map(|&node| undo_reads(graph, node)).collect(),
            takes: Vec::new(),
            moves: Vec::new(),
        };
        for &node in chain {
            if matches!(graph.node(node).kind, NodeKind::Each { .. }) {
                continue;
            }
            for (read, port) in graph.node(node).reads.iter().enumerate() {
                let early = branch.written_before(node, &port.key).is_none();
                if port.mode == ReadMode::Take && early && plan.has(&port.key) {
                    let by = TakenBy {
                        node,
                        read: ReadIndex(read),
                    };
                    branch.takes.push(by);
                    if plan.resolved.graph.take(node, read) == Take::Move {
                        branch.moves.push((&port.key, by));
                    }
                }
            }
        }
        branch
    }

    /// `Some` if a node earlier in the chain writes the key: true if it may leave the key
    /// unwritten. The body of a loop is not in the chain itself, and sees what its loop sees.
    pub(super) fn written_before(&self, node: NodeId, key: &str) -> Option<bool> {
        let position = self.chain.iter().position(|&other| other == node)?;
        let earlier = self.writes[..position].iter().flatten();
        earlier
            .filter(|write| write.key == key)
            .map(|write| write.optional)
            .reduce(|first, second| first && second)
    }

    /// The place of a key's value when a node of the branch is done.
    pub(in crate::flow) fn slot_when_done(&self, node: NodeId, key: &str) -> Slot {
        let position = self.chain.iter().position(|&other| other == node);
        let until = position.map_or(self.writes.len(), |position| position + 1);
        let writes = self.writes[..until].iter().flatten();
        let written = writes.filter(|write| write.key == key);
        let optional = written.map(|write| write.optional || write.adds);
        match optional.reduce(|first, second| first && second) {
            Some(false) => Slot::Own,
            Some(true) => Slot::OwnOrBase,
            None => self.moved(key).map_or(Slot::Base, Slot::Taken),
        }
    }

    /// The read for which a key was moved out of the state, for a later node in the branch.
    pub(super) fn moved(&self, key: &str) -> Option<TakenBy> {
        let (_, by) = self.moves.iter().find(|(moved, _)| *moved == key)?;
        Some(*by)
    }

    /// How a node of the branch adds to a key.
    pub(in crate::flow) fn addition(&self, node: NodeId, key: &str) -> Addition {
        let position = self.chain.iter().position(|&other| other == node);
        let (before, after) = self.writes.split_at(position.unwrap_or_default());
        if self.replaces(key) {
            let mut before = before.iter().flatten();
            let replaced = before.any(|write| write.key == key && !write.adds && !write.optional);
            return Addition::ToOwn { replaced };
        }
        let later = self.reads.iter().rev().take(after.len().saturating_sub(1));
        let kept = self.undo_reads.iter().rev().take(after.len());
        let seen = later.chain(kept).any(|reads| reads.contains(key));
        Addition::AtJoin { seen }
    }

    /// Returns true if a node of the branch replaces the value of the key.
    pub(in crate::flow) fn replaces(&self, key: &str) -> bool {
        let mut writes = self.writes.iter().flatten();
        writes.any(|write| write.key == key && !write.adds)
    }

    /// The keys of its own state, each once: those that it replaces, and those that a node reads
    /// after another one has added to them.
    pub(in crate::flow) fn keys(&self) -> Vec<&'a str> {
        let mut keys: Vec<&str> = Vec::new();
        for (node, writes) in self.chain.iter().zip(&self.writes) {
            for BranchWrite { key, adds, .. } in writes {
                let is_own = !adds || self.addition(*node, key) != Addition::AtJoin { seen: false };
                if is_own && !keys.contains(key) {
                    keys.push(key);
                }
            }
        }
        keys
    }
}

fn writes(graph: &Graph, node: NodeId) -> Vec<BranchWrite<'_>> {
    let actions = graph.node(node).actions.iter();
    let writes = actions.flat_map(|action| &action.writes);
    writes
        .map(|write| BranchWrite {
            key: &write.key,
            optional: write.optional,
            adds: write.adds,
        })
        .collect()
}

/// The keys that the node that takes back a visit reads.
fn undo_reads(graph: &Graph, node: NodeId) -> HashSet<&str> {
    let undo = graph.node(node).undo.into_iter();
    let reads = undo.flat_map(|undo| &graph.node(undo).reads);
    reads.map(|read| read.key.as_str()).collect()
}

/// The keys that a node reads. A loop reads what its body does.
fn reads(graph: &Graph, node: NodeId) -> HashSet<&str> {
    let body = match graph.node(node).kind {
        NodeKind::Each { body, .. } => Some(body),
        _ => None,
    };
    let nodes = [node].into_iter().chain(body);
    let reads = nodes.flat_map(|node| &graph.node(node).reads);
    reads.map(|read| read.key.as_str()).collect()
}
