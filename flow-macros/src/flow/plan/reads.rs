//! The place of the value of each read, and its handover: borrowed, moved or cloned.

use flow_spec::{EdgeMapping, EdgeTarget, NodeId, Reader, Take};

use crate::contract::Mode;
use crate::flow::instances::InstanceKind;
use crate::names::plain;

use super::{BranchPlan, Plan, ReadIndex, RouteIndex, TakenBy};

/// The place of a node in the flow, which decides where its keys are.
#[derive(Clone, Copy)]
pub(in crate::flow) enum Place<'a> {
    /// In the flow's own loop.
    Loop,
    /// In a branch of a fork or a race, which sees the state before that and its own writes.
    Branch(&'a BranchPlan<'a>),
    /// The body of a loop over items, the node `of`, which is in the loop or in a branch. It cannot
    /// change the state.
    Item {
        branch: Option<&'a BranchPlan<'a>>,
        of: NodeId,
    },
}

/// A read of a node.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::flow) struct Read<'a> {
    pub(in crate::flow) key: &'a str,
    pub(in crate::flow) slot: Slot,
    pub(in crate::flow) handover: Handover,
}

/// The place of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::flow) enum Slot {
    /// In the flow's state.
    State,
    /// In the flow's state as it was at the fork.
    Base,
    /// In the branch's own state.
    Own,
    /// In the branch's own state if it was written there, or else in the flow's.
    OwnOrBase,
    /// In the branch's own state, which took the value for this read before it started.
    Taken(TakenBy),
    /// The value is the item of a loop.
    Item,
    /// Nothing writes it.
    Nowhere,
}

/// The way in which a value is passed to the node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::flow) enum Handover {
    Borrow,
    Move,
    /// Cloned because a later reader needs it.
    Clone {
        later: Reader,
    },
}

/// A key that an edge writes.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::flow) struct EdgeWrite<'a> {
    pub(in crate::flow) key: &'a str,
    /// The key of the state whose value it gets.
    pub(in crate::flow) source: &'a str,
    /// `Some` if the value is cloned because a later reader needs it.
    pub(in crate::flow) later: Option<Reader>,
}

impl Plan<'_> {
    /// The keys that an edge writes. All values are taken before one of them is written.
    pub(in crate::flow) fn edge_writes(&self, route: RouteIndex) -> Vec<EdgeWrite<'_>> {
        let graph = &self.resolved.graph;
        let mappings = self.edge(route).mappings.iter().enumerate();
        let writes = mappings.map(|(index, EdgeMapping { key, source })| EdgeWrite {
            key,
            source,
            later: match graph.take_of_edge(route.0, index) {
                Take::Move => None,
                Take::Clone { later } => Some(later),
            },
        });
        writes.collect()
    }

    /// A read of a node at that place.
    pub(in crate::flow) fn read(
        &self,
        place: Place<'_>,
        node: NodeId,
        read: ReadIndex,
    ) -> Read<'_> {
        let key = &self.resolved.graph.graph().node(node).reads[read.0].key;
        let slot = self.slot(place, TakenBy { node, read }, key);
        let handover = match self.resolved.contracts[node].reads[read.0].mode {
            Mode::Borrow | Mode::MaybeBorrow | Mode::MaybeDeref => Handover::Borrow,
            Mode::Take | Mode::MaybeTake => self.taken(place, TakenBy { node, read }, slot),
        };
        Read {
            key,
            slot,
            handover,
        }
    }

    fn slot(&self, place: Place<'_>, by: TakenBy, key: &str) -> Slot {
        let (branch, node) = match place {
            Place::Item { of, .. } if self.item_of(of).as_deref() == Some(key) => {
                return Slot::Item;
            }
            _ if !self.has(key) => return Slot::Nowhere,
            Place::Loop | Place::Item { branch: None, .. } => return Slot::State,
            Place::Branch(branch) => (branch, by.node),
            Place::Item {
                branch: Some(branch),
                of,
            } => (branch, of),
        };
        match branch.written_before(node, key) {
            Some(false) => Slot::Own,
            Some(true) => Slot::OwnOrBase,
            None if branch.takes.contains(&by) => Slot::Taken(by),
            None => branch.moved(key).map_or(Slot::Base, Slot::Taken),
        }
    }

    /// The handover of a value to a node that takes it.
    fn taken(&self, place: Place<'_>, by: TakenBy, slot: Slot) -> Handover {
        let itself = Handover::Clone {
            later: Reader::Node(by.node),
        };
        if slot == Slot::Item {
            return Handover::Move;
        }
        if self.repeats(by.node, place) {
            return match self.resolved.graph.take(by.node, by.read.0) {
                Take::Clone { later } => Handover::Clone { later },
                Take::Move => itself,
            };
        }
        let own = match (place, slot) {
            (Place::Item { .. }, _) => false,
            // A branch took it only for this read.
            (_, Slot::Taken(other)) if other == by => return Handover::Move,
            (_, slot) => matches!(slot, Slot::State | Slot::Own),
        };
        match self.resolved.graph.take(by.node, by.read.0) {
            Take::Clone { later } => Handover::Clone { later },
            Take::Move if own => Handover::Move,
            Take::Move => itself,
        }
    }

    /// The name of the item of a loop.
    fn item_of(&self, each: NodeId) -> Option<String> {
        match &self.instances[each].kind {
            InstanceKind::Each { item, .. } => Some(plain(item)),
            _ => None,
        }
    }

    /// The words that name the later reader of a value.
    pub(in crate::flow) fn reads_later(&self, reader: Reader) -> String {
        match reader {
            Reader::Node(reader) => {
                format!("`{}` reads later", self.instances[reader].shown)
            }
            Reader::Adder(adder) => {
                format!("`{}` adds to later", self.instances[adder].shown)
            }
            Reader::Edge(edge) => match &self.resolved.graph.graph().edges[edge].to {
                EdgeTarget::Node(to) => {
                    format!("the edge to `{}` reads later", self.instances[*to].shown)
                }
                EdgeTarget::End(_) => "an edge to an end reads later".to_owned(),
            },
            Reader::Output => "the flow returns".to_owned(),
        }
    }
}
