//! Checks that the branches of a fork do not use each other's keys. Several may add to one: what
//! they add is joined in the order of the branches.
//!
//! The accesses of a node concern every fork around it, as far out as they are visible.

use std::collections::{HashMap, HashSet};

use super::found::Found;
use super::model::Model;
use super::shape::Shape;
use super::undo::Undos;
use crate::diagnostic::{Code, Diagnostic, Site};
use crate::graph::{Graph, NodeId, NodeKind};

/// The readers and writers of each key, in the branches of every fork.
pub(super) struct Forks<'g> {
    uses: HashMap<(NodeId, &'g str), Uses>,
    /// One entry for each fork, branch, node and key, in the order of the nodes.
    accesses: Vec<Access<'g>>,
}

struct Access<'g> {
    fork: NodeId,
    branch: usize,
    node: NodeId,
    /// The node that `node` takes back, if it is an undo node.
    taken_back: Option<NodeId>,
    key: &'g str,
    kind: AccessKind,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum AccessKind {
    Read,
    Write,
    Add,
}

/// The users of one key in one fork.
#[derive(Default)]
struct Uses {
    readers: Users,
    writers: Users,
    adders: Users,
}

/// The first user of a key, and the first one in another branch. At least one of the two is outside
/// any given branch.
#[derive(Default)]
struct Users {
    first: Option<(usize, NodeId)>,
    other: Option<(usize, NodeId)>,
}

impl Users {
    fn add(&mut self, branch: usize, node: NodeId) {
        match self.first {
            None => self.first = Some((branch, node)),
            Some((first, _)) if first != branch => {
                self.other.get_or_insert((branch, node));
            }
            Some(_) => {}
        }
    }

    fn outside(&self, branch: usize) -> Option<NodeId> {
        let users = self.first.iter().chain(&self.other);
        users
            .filter(|(at, _)| *at != branch)
            .map(|&(_, node)| node)
            .next()
    }
}

impl<'g> Forks<'g> {
    pub(super) fn new(graph: &'g Graph, shape: &Shape, undos: &Undos) -> Forks<'g> {
        let mut accesses = Vec::new();
        for id in graph.node_ids() {
            enter_accesses(graph, shape, id, None, &mut accesses);
            for &taken_back in undos.taken_back(id) {
                enter_accesses(graph, shape, id, Some(taken_back), &mut accesses);
            }
        }
        let mut uses: HashMap<(NodeId, &str), Uses> = HashMap::new();
        for access in &accesses {
            let uses = uses.entry((access.fork, access.key)).or_default();
            let users = match access.kind {
                AccessKind::Read => &mut uses.readers,
                AccessKind::Write => &mut uses.writers,
                AccessKind::Add => &mut uses.adders,
            };
            users.add(access.branch, access.node);
        }
        Forks { uses, accesses }
    }

    /// A node in another branch of a fork around `id` that reads the key at the same time.
    pub(super) fn reads_meanwhile(&self, shape: &Shape, id: NodeId, key: &str) -> Option<NodeId> {
        self.meanwhile(shape, id, key, |uses| &uses.readers)
    }

    /// A node in another branch of a fork around `id` that adds to the key at the same time.
    pub(super) fn adds_meanwhile(&self, shape: &Shape, id: NodeId, key: &str) -> Option<NodeId> {
        self.meanwhile(shape, id, key, |uses| &uses.adders)
    }

    /// A node in another branch of a fork around `id` that writes the key at the same time.
    pub(super) fn writes_meanwhile(&self, shape: &Shape, id: NodeId, key: &str) -> Option<NodeId> {
        self.meanwhile(shape, id, key, |uses| &uses.writers)
    }

    fn meanwhile(
        &self,
        shape: &Shape,
        id: NodeId,
        key: &str,
        users: impl Fn(&Uses) -> &Users,
    ) -> Option<NodeId> {
        let mut at = id;
        while let Some(place) = shape.place(at) {
            let uses = self.uses.get(&(place.owner, key));
            if let Some(user) = uses.and_then(|uses| users(uses).outside(place.branch)) {
                return Some(user);
            }
            at = place.owner;
        }
        None
    }
}

/// Adds the node's reads and writes to every fork around it. An undo node reads at the place of the
/// node that it takes back, and writes nothing there.
fn enter_accesses<'g>(
    graph: &'g Graph,
    shape: &Shape,
    id: NodeId,
    taken_back: Option<NodeId>,
    accesses: &mut Vec<Access<'g>>,
) {
    let node = graph.node(id);
    let mut items: Vec<&str> = Vec::new();
    let mut in_loop = false;
    let mut at = taken_back.unwrap_or(id);
    while let Some(place) = shape.place(at) {
        let (fork, branch) = (place.owner, place.branch);
        match &graph.node(fork).kind {
            NodeKind::Each { item, .. } => {
                // The item, and the keys written for one item, exist only inside the loop.
                items.push(item);
                in_loop = true;
            }
            // Only one branch of a race counts, so they may use the same keys.
            NodeKind::Race(_) => {}
            _ => {
                let access = |key, kind| Access {
                    fork,
                    branch,
                    node: id,
                    taken_back,
                    key,
                    kind,
                };
                let reads = node
                    .reads
                    .iter()
                    .filter(|read| !items.contains(&read.key.as_str()));
                accesses.extend(reads.map(|read| access(read.key.as_str(), AccessKind::Read)));
                if !in_loop && taken_back.is_none() {
                    let writes = node.actions.iter().flat_map(|action| &action.writes);
                    accesses.extend(writes.map(|write| {
                        let kind = if write.adds {
                            AccessKind::Add
                        } else {
                            AccessKind::Write
                        };
                        access(write.key.as_str(), kind)
                    }));
                }
            }
        }
        at = fork;
    }
}

/// Reports the keys over which branches conflict.
pub(super) fn check(model: &Model<'_>, found: &mut Found) {
    let mut seen = HashSet::new();
    for access in &model.forks.accesses {
        let Some(uses) = model.forks.uses.get(&(access.fork, access.key)) else {
            continue;
        };
        let Some(writer) = uses.writers.outside(access.branch) else {
            continue;
        };
        // A node that reads what it adds to is reported once.
        let actions = model.graph.node(access.node).actions.iter();
        let mut writes = actions.flat_map(|action| &action.writes);
        let adds = writes.any(|write| write.adds && write.key == access.key);
        let adds = adds && access.taken_back.is_none();
        if access.kind == AccessKind::Read && adds {
            continue;
        }
        // If two branches write the key, a message about reading it would be redundant.
        let is_reported = match (access.kind, uses.writers.first, uses.writers.other) {
            (AccessKind::Write, Some((first, _)), _) => first == access.branch,
            (_, _, other) => other.is_some(),
        };
        if is_reported || !seen.insert((access.node, access.key, access.kind)) {
            continue;
        }
        found.push(conflict(model.graph, access, writer));
    }
}

fn conflict(graph: &Graph, access: &Access<'_>, writer: NodeId) -> Diagnostic {
    let (name, other, key) = (
        &graph.node(access.node).name,
        &graph.node(writer).name,
        access.key,
    );
    let other_key = format!("`node {name}: … {{ {key} -> {key}_2 }};`");
    let (message, help) = match (access.kind, access.taken_back) {
        (_, Some(taken_back)) => {
            let taken_back = &graph.node(taken_back).name;
            (
                format!(
                    "`{name}` takes back `{taken_back}`, and reads `{key}` while `{other}` writes it in another branch"
                ),
                format!(
                    "put `{taken_back}` after `{other}`, or read a key that no other branch writes"
                ),
            )
        }
        (AccessKind::Write, None) => (
            format!("`{name}` writes `{key}`, and so does `{other}` at the same time"),
            format!("let one of them write another key: {other_key}"),
        ),
        (AccessKind::Add, None) => (
            format!("`{name}` adds to `{key}` while `{other}` writes it in another branch"),
            format!("put it after `{other}`"),
        ),
        (AccessKind::Read, None) => (
            format!("`{name}` reads `{key}` while `{other}` writes it in another branch"),
            format!("put it after `{other}`, or read a key that no other branch writes"),
        ),
    };
    let site = access
        .taken_back
        .map_or(Site::Node(access.node), Site::Undo);
    Diagnostic::new(Code::ForkConflict, site, message)
        .help(help)
        .related(Site::Node(writer), format!("`{other}` writes `{key}`"))
}
