//! The places that arrows touch, for notations whose arrows lead from node to node. Arrows enter a
//! flow at its start and leave it at its ends; forks, races and loops get extra nodes for them.
//!
//! Such notations cannot draw an arrow from a box to something inside it, so none is made here.

use super::scene::{Arrow, Inside, Member, Place, Scene};

/// Something that an arrow can touch. Its key is unique, because ids do not contain a slash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Port {
    /// A node.
    Node(String),
    /// The box around a flow, with the key of its start. Used if no end of the flow is for the
    /// action.
    Whole { flow: String, start: String },
}

/// An arrow from node to node.
#[derive(Debug)]
pub(super) struct Link<'s> {
    pub(super) from: Port,
    pub(super) to: String,
    pub(super) arrow: &'s Arrow<'s>,
}

impl Scene<'_> {
    pub(super) fn start_key(&self) -> String {
        format!("{}/start", self.path)
    }

    pub(super) fn end_key(&self, index: usize) -> String {
        format!("{}/end/{}", self.path, self.ends[index])
    }

    /// Its arrows, without those of the inner flows.
    pub(super) fn links(&self) -> Vec<Link<'_>> {
        self.arrows.iter().map(|arrow| self.link(arrow)).collect()
    }

    fn link<'s>(&'s self, arrow: &'s Arrow<'s>) -> Link<'s> {
        let from = match arrow.from {
            Place::Start => Port::Node(self.start_key()),
            Place::Member(index) => self.members[index].exit(arrow.action),
            Place::End(index) => Port::Node(self.end_key(index)),
        };
        let to = match arrow.to {
            Place::Start => self.start_key(),
            Place::Member(index) => self.members[index].entry(),
            Place::End(index) => self.end_key(index),
        };
        match from {
            // An arrow from a box to itself leaves from its start.
            Port::Whole { start, .. } if arrow.from == arrow.to => Link {
                from: Port::Node(start),
                to,
                arrow,
            },
            from => Link { from, to, arrow },
        }
    }
}

impl Member<'_> {
    /// The key of the place where branches split, or a loop over items begins.
    pub(super) fn fork_key(&self) -> String {
        format!("{}/fork", self.path)
    }

    /// The key of the place where the branches join, or the loop is done.
    pub(super) fn join_key(&self) -> String {
        format!("{}/join", self.path)
    }

    /// The place at which arrows enter.
    pub(super) fn entry(&self) -> String {
        match &self.inside {
            Inside::Nothing => self.path.clone(),
            Inside::Flow(scene) => scene.start_key(),
            Inside::Fork(_) | Inside::Each(_) => self.fork_key(),
        }
    }

    /// The place from which the arrow for an action leaves.
    pub(super) fn exit(&self, action: Option<&str>) -> Port {
        Port::Node(match &self.inside {
            Inside::Nothing => self.path.clone(),
            Inside::Flow(scene) => match action.and_then(|action| scene.end_number(action)) {
                Some(index) => scene.end_key(index),
                None => {
                    return Port::Whole {
                        flow: self.path.clone(),
                        start: scene.start_key(),
                    };
                }
            },
            Inside::Fork(_) | Inside::Each(_) => self.join_key(),
        })
    }
}
