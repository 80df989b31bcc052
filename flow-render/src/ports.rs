//! Where arrows touch in notations whose arrows lead from node to node: into a flow at its start,
//! out of it at its ends, and around forks and loops by nodes of their own.
//!
//! An arrow that leads from a box to something inside it is what such notations cannot draw; none
//! is made here.

use super::scene::{Arrow, Inside, Member, Place, Scene};

/// Something that an arrow can touch. It is named by a key that no other has, because no id has a
/// slash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Port {
    /// A node.
    Node(String),
    /// The box around a flow, where no end of it is for the action; with the key of its start.
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

    /// Its arrows, without those of the flows inside.
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
            // A box that leads into itself does so from its start.
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
    /// Where a fork splits, or a loop over items begins.
    pub(super) fn fork_key(&self) -> String {
        format!("{}/fork", self.path)
    }

    /// Where the branches meet, or the loop is done.
    pub(super) fn join_key(&self) -> String {
        format!("{}/join", self.path)
    }

    /// Where arrows lead in.
    pub(super) fn entry(&self) -> String {
        match &self.inside {
            Inside::Nothing => self.path.clone(),
            Inside::Flow(scene) => scene.start_key(),
            Inside::Fork(_) | Inside::Each(_) => self.fork_key(),
        }
    }

    /// Where the arrow for an action leads out.
    pub(super) fn exit(&self, action: Option<&str>) -> Port {
        Port::Node(match &self.inside {
            Inside::Nothing => self.path.clone(),
            Inside::Flow(scene) => {
                let end = scene.ends.iter().position(|label| Some(*label) == action);
                match end {
                    Some(index) => scene.end_key(index),
                    None => {
                        return Port::Whole {
                            flow: self.path.clone(),
                            start: scene.start_key(),
                        };
                    }
                }
            }
            Inside::Fork(_) | Inside::Each(_) => self.join_key(),
        })
    }
}
