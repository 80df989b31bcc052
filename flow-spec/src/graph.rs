//! The graph model of a flow: plain data in the order written; no spans, no syntax trees.

/// The action of a node that declares none, and of a plain `a >> b`.
pub const DEFAULT_ACTION: &str = "default";

/// The reserved action of a fallible node that has failed after its last attempt.
pub const ERROR_ACTION: &str = "error";

/// The action of a node whose time is over: a human node or a poll with a timeout.
pub const TIMEOUT_ACTION: &str = "timeout";

/// The key that an edge for [`ERROR_ACTION`] writes.
pub const ERROR_KEY: &str = "error";

/// A flow: its signature, its nodes and the edges between them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Graph {
    /// The flow's name, as its author wrote it.
    pub name: String,
    /// The values that the caller passes.
    pub inputs: Vec<Input>,
    /// The values that the caller receives.
    pub outputs: Vec<Output>,
    /// Every node, including those inside a fork or a loop. [`NodeId`]s index this list.
    pub nodes: Vec<Node>,
    /// The edges of the flow itself, in the order written. Nodes inside a fork or a loop have none.
    pub edges: Vec<Edge>,
}

/// Index of a node in [`Graph::nodes`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub usize);

/// A value that the caller passes to the flow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Input {
    /// The key under which nodes read it.
    pub key: String,
    /// True if the caller may leave it out (declared as `Option<T>`).
    pub optional: bool,
    /// The Rust type as written, without the `Option` of an optional input.
    pub rust_type: String,
}

/// A value that the flow returns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    /// The key whose value is returned.
    pub key: String,
    /// True if it may be unwritten at an end (declared as `Option<T>`).
    pub optional: bool,
    /// The Rust type as written, without the `Option` of an optional output.
    pub rust_type: String,
}

/// One step of a flow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// The name by which edges refer to it.
    pub name: String,
    /// The kind of node.
    pub kind: NodeKind,
    /// The values that it reads, by the flow's keys (mappings are already applied).
    pub reads: Vec<NodeRead>,
    /// Every action that it can take, with the values written on each. A node without declared
    /// actions has the single action [`DEFAULT_ACTION`]. [`ERROR_ACTION`] is not listed; see
    /// [`Node::fallible`].
    pub actions: Vec<Action>,
    /// True if it can fail: it returns a `Result`, has a timeout, or is a flow.
    pub fallible: bool,
    /// The node that takes back one visit to this node: one of [`Graph::nodes`], without edges of
    /// its own. It reads the keys as they were when the visit was done.
    pub undo: Option<NodeId>,
    /// The name that it had in an earlier version of the flow, under which the steps of earlier
    /// executions are stored.
    pub was: Option<String>,
}

/// The kind of a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NodeKind {
    /// A function or a type with `exec`.
    Step,
    /// A flow used as a node, with its name. Its reads and writes are those of its signature.
    Flow(String),
    /// Branches that run at the same time, each from the state at the fork.
    Fork(Vec<Branch>),
    /// Branches that run at the same time, each from the state at the race. The first one that is
    /// done decides the action, and only what it wrote is kept. The others are dropped.
    ///
    /// [`Node::actions`] has the actions of all branches, each once, without writes: the nodes in
    /// the branches have them.
    Race(Vec<RaceBranch>),
    /// The node `body`, run once for each item of a collection.
    Each {
        /// The node that runs for each item: one of [`Graph::nodes`], without edges of its own.
        body: NodeId,
        /// The key under which `body` reads the item. It exists only inside the loop.
        item: String,
        /// The keys that `body` writes. They are visible only inside the loop: the results are
        /// collected under the name of the loop.
        writes: Vec<String>,
    },
    /// Routes by conditions over the values that it reads.
    Branch,
    /// Pauses for a while.
    Wait,
    /// Undoes the visits so far that have an undo node, the newest first.
    Undo,
    /// Forgets the visits so far: they are not undone any more.
    Commit,
    /// Asks a person, or another system, for its value.
    Human,
    /// Waits for a signal: a message that is sent from outside the program, without being asked
    /// for.
    Signal,
}

/// One branch of a fork: nodes that run one after the other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Branch {
    /// The nodes in the order in which they run. Each is one of [`Graph::nodes`], without edges of
    /// its own.
    pub chain: Vec<NodeId>,
}

/// One branch of a race.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RaceBranch {
    /// The nodes in the order in which they run. Each is one of [`Graph::nodes`], without edges of
    /// its own.
    pub chain: Vec<NodeId>,
    /// The action that the race takes if this branch is the first one that is done. `None` if it is
    /// the action that the last node takes.
    pub action: Option<String>,
}

/// A key that a node reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeRead {
    /// The key in the flow's state.
    pub key: String,
    /// The way it is read.
    pub mode: ReadMode,
    /// True if the key may be missing: it is read as an `Option`.
    pub optional: bool,
    /// The Rust type of the value as the reader wrote it, without reference and `Option`.
    pub rust_type: String,
    /// True if a mapping of the flow names the key: the node itself has another name for it.
    pub mapped: bool,
}

/// The way a value is passed to the node that reads it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadMode {
    /// By reference: `&T`.
    Borrow,
    /// By value: `T`. Moved out of the state if no path reads it later, cloned otherwise.
    Take,
}

/// A named outcome of a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Action {
    /// The name by which edges route it.
    pub name: String,
    /// The keys written when the node takes this action.
    pub writes: Vec<NodeWrite>,
}

/// A key that a node writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeWrite {
    /// The key in the flow's state.
    pub key: String,
    /// True if it may be left unwritten (an optional output of a flow used as a node).
    pub optional: bool,
    /// True if it is added to the value that the key has, instead of replacing it.
    pub adds: bool,
    /// The Rust type as the writer wrote it. Empty if it is not known.
    pub rust_type: String,
}

/// An edge: `from - "action" >> to`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edge {
    /// The start of the edge.
    pub from: EdgeSource,
    /// The action that it routes. `None` is a plain `>>`, which stands for [`DEFAULT_ACTION`].
    pub action: Option<String>,
    /// The target of the edge.
    pub to: EdgeTarget,
    /// The keys that it writes.
    pub mappings: Vec<EdgeMapping>,
}

/// A key that an edge writes when a run follows it: `{ key <- source }`. All mappings of an edge
/// read their sources before one of them writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EdgeMapping {
    /// The key that is written: one that the next node reads, or an output if the edge ends the
    /// flow.
    pub key: String,
    /// The key whose value is written.
    pub source: String,
}

/// The start of an edge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EdgeSource {
    /// `start`
    Start,
    /// A node of the flow.
    Node(NodeId),
}

/// The target of an edge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EdgeTarget {
    /// A node of the flow.
    Node(NodeId),
    /// `end` (the label is [`DEFAULT_ACTION`]) or `end("label")`.
    End(String),
}

/// A part of an edge, as its author sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EdgePart {
    /// The node from which it starts.
    From,
    /// The action, or the `>>` if none is written.
    Action,
    /// The node or end to which it leads.
    To,
    /// The label of the end to which it leads.
    Label,
    /// The key that a mapping writes, by the mapping's index.
    Key(usize),
    /// The key that a mapping reads, by the mapping's index.
    Source(usize),
}

impl Graph {
    /// Returns the node with this id.
    ///
    /// # Panics
    ///
    /// If the id is not one of this graph. [`check`](crate::check) reports such ids instead.
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.0]
    }

    /// Returns the names of the actions that the branches of a race take, each once, in the order of
    /// the branches.
    pub fn actions_of_race(&self, branches: &[RaceBranch]) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for branch in branches {
            let last = branch.chain.last().and_then(|id| self.nodes.get(id.0));
            let of_last = last.into_iter().flat_map(|node| &node.actions);
            let of_last = of_last.map(|action| &action.name);
            let own: Vec<&String> = match &branch.action {
                Some(action) => vec![action],
                None => of_last.collect(),
            };
            for name in own {
                if !names.contains(name) {
                    names.push(name.clone());
                }
            }
        }
        names
    }

    /// Returns the ids of all nodes, in the order written.
    pub fn node_ids(&self) -> impl Iterator<Item = NodeId> + use<> {
        (0..self.nodes.len()).map(NodeId)
    }
}

impl Node {
    /// Returns the action with this name, except [`ERROR_ACTION`].
    pub fn action(&self, name: &str) -> Option<&Action> {
        self.actions.iter().find(|action| action.name == name)
    }

    /// Returns the names that an edge from this node may route: its actions, and [`ERROR_ACTION`]
    /// if it can fail.
    pub fn routable(&self) -> impl Iterator<Item = &str> {
        let error = (self.fallible && self.action(ERROR_ACTION).is_none()).then_some(ERROR_ACTION);
        self.actions
            .iter()
            .map(|action| action.name.as_str())
            .chain(error)
    }
}

impl Edge {
    /// Returns the action that it routes.
    pub fn action(&self) -> &str {
        self.action.as_deref().unwrap_or(DEFAULT_ACTION)
    }
}
