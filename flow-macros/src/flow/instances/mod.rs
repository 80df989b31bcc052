//! The nodes of a flow, each once: those that are declared, and those that occur only in edges.

mod inner;
mod mentions;

use std::collections::{HashMap, HashSet};
use std::ops::Index;
use std::time::Duration;

use flow_spec::{Code, NodeId};
use proc_macro2::{Ident, Span};
use syn::{LitStr, Path};

use crate::names::{is_type_name, path_text, plain, refuse_reserved};
use crate::protocol::macro_path;
use crate::report::Report;

use super::syntax::{
    BranchIndex, DeclarationIndex, EdgeSyntax, FlowSyntax, NodeSource, NodeSyntax, StepSyntax,
    WaitIndex,
};

use mentions::fork_text;
pub(crate) use mentions::path_key;

/// One node of a flow.
pub(crate) struct Instance {
    /// Its name, in paths and as a variant.
    pub(crate) name: Ident,
    /// Its name in messages.
    pub(crate) shown: String,
    pub(crate) kind: InstanceKind,
    /// Its declaration, if it has one.
    declaration: Option<DeclarationIndex>,
    /// True if it is only the body of a loop over items: then it has no name of its own.
    pub(crate) hidden: bool,
    /// True if it is declared with the word `human` or `signal`.
    pub(crate) is_external: bool,
    /// The place where it is declared or else first mentioned.
    pub(crate) span: Span,
}

/// The kind of a node.
pub(crate) enum InstanceKind {
    /// A function, a type or a flow, with generic arguments.
    Node(Path),
    /// Branches, each a chain.
    Fork(Vec<Vec<NodeId>>),
    /// The branches of a race.
    Race(Vec<RaceBranch>),
    /// A loop over items. [`Instances::body`] is the node that it runs.
    Each { item: Ident, over: Ident },
    /// Conditions.
    Branch(BranchIndex),
    /// A pause.
    Wait(Duration),
    /// `undo`
    Undo,
    /// `commit`
    Commit,
}

/// A branch of a race.
pub(crate) struct RaceBranch {
    pub(crate) chain: Vec<NodeId>,
    /// `None` if the branch takes the actions of its last node.
    pub(crate) action: Option<LitStr>,
}

impl InstanceKind {
    /// The branches of a fork or a race, each a chain. Empty for other nodes.
    pub(crate) fn chains(&self) -> Vec<&[NodeId]> {
        match self {
            InstanceKind::Fork(branches) => branches.iter().map(Vec::as_slice).collect(),
            InstanceKind::Race(branches) => {
                let chains = branches.iter().map(|branch| branch.chain.as_slice());
                chains.collect()
            }
            _ => Vec::new(),
        }
    }

    /// The nodes in the branches of a fork or a race.
    pub(crate) fn inner(&self) -> impl Iterator<Item = NodeId> {
        self.chains().into_iter().flatten().copied()
    }
}

/// The nodes of a flow. Their ids are those of the graph. Hidden nodes come last.
#[derive(Default)]
pub(crate) struct Instances {
    list: Vec<Instance>,
    by_name: HashMap<String, NodeId>,
    /// The declared nodes, by their names.
    declared: HashMap<String, NodeId>,
    by_path: HashMap<String, NodeId>,
    /// Forks by their text, because a fork that is written twice is one fork.
    by_branches: HashMap<String, NodeId>,
    /// Names of nodes that an error already reports.
    unusable: HashSet<String>,
    /// Waits by their place, because a wait that is the target of one edge and the start of the
    /// next is one wait.
    by_wait: HashMap<WaitIndex, NodeId>,
    /// The body of each loop over items.
    bodies: HashMap<NodeId, NodeId>,
    /// The node that takes back a visit, by the node of the visit.
    undo_nodes: HashMap<NodeId, NodeId>,
}

impl Instances {
    /// Finds all nodes, declared ones first. Reports invalid names.
    pub(crate) fn collect(flow: &FlowSyntax, report: &mut Report) -> Self {
        let mut instances = Instances {
            unusable: flow.unread.iter().map(plain).collect(),
            ..Instances::default()
        };
        for (declaration, node) in flow.declarations() {
            let kind = match &node.source {
                NodeSource::Path { path, .. } if path.is_ident(&flow.name) => {
                    contains_itself(path, report);
                    instances.unusable.insert(plain(&node.name));
                    continue;
                }
                NodeSource::Path { path, .. } => InstanceKind::Node(path.clone()),
                // The nodes in it may be declared further down, so it is filled in below.
                NodeSource::Fork(_) => InstanceKind::Fork(Vec::new()),
                NodeSource::Race(_) => InstanceKind::Race(Vec::new()),
                // Its body is found below as well.
                NodeSource::Each { item, over, .. } => InstanceKind::Each {
                    item: item.clone(),
                    over: over.clone(),
                },
            };
            instances.declare(flow, &node.name, kind, Some(declaration), report);
        }
        for (index, branch) in flow.branches() {
            instances.declare(
                flow,
                &branch.name,
                InstanceKind::Branch(index),
                None,
                report,
            );
        }
        for node in &flow.nodes {
            let Some(id) = instances.named(&node.name) else {
                continue;
            };
            match &node.source {
                NodeSource::Fork(fork) => {
                    let branches = instances.branches(flow, fork, report);
                    instances.list[id.0].kind = InstanceKind::Fork(branches);
                }
                NodeSource::Race(branches) => {
                    let branches = instances.branches_of_race(flow, &node.name, branches, report);
                    instances.list[id.0].kind = InstanceKind::Race(branches);
                }
                NodeSource::Path { .. } | NodeSource::Each { .. } => {}
            }
        }
        for edge in &flow.edges {
            check_direction(edge, &instances.unusable, report);
            instances.mention(flow, &edge.from, report);
            instances.mention(flow, &edge.to, report);
        }
        for node in &flow.nodes {
            instances.find_undo_node(flow, node, report);
        }
        for (declaration, node) in flow.declarations() {
            instances.find_body(declaration, node, report);
        }
        instances
    }

    /// The node of a step.
    pub(crate) fn of(&self, step: &StepSyntax) -> Option<NodeId> {
        match step {
            StepSyntax::Start(_) | StepSyntax::End(..) => None,
            StepSyntax::Node(path) => self.of_path(path),
            StepSyntax::Fork(fork) => self.by_branches.get(&fork_text(fork)).copied(),
            StepSyntax::Wait(wait) => self.by_wait.get(&wait.index).copied(),
            StepSyntax::Undo(undo) => self.by_wait.get(&undo.index).copied(),
        }
    }

    /// All nodes, in the order of their ids.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (NodeId, &Instance)> {
        let numbered = self.list.iter().enumerate();
        numbered.map(|(index, instance)| (NodeId(index), instance))
    }

    /// The node that a loop over items runs.
    ///
    /// # Panics
    ///
    /// If the node is not a loop over items.
    pub(crate) fn body(&self, each: NodeId) -> NodeId {
        self.bodies[&each]
    }

    /// The nodes that loops over items run.
    pub(crate) fn bodies(&self) -> impl Iterator<Item = NodeId> {
        self.bodies.values().copied()
    }

    /// The node that takes back a visit of this node.
    pub(crate) fn undo_node(&self, node: NodeId) -> Option<NodeId> {
        self.undo_nodes.get(&node).copied()
    }

    /// The nodes that take back visits.
    pub(crate) fn undo_nodes(&self) -> impl Iterator<Item = NodeId> {
        self.undo_nodes.values().copied()
    }

    /// The paths of all functions, types and flows as macros, each once.
    pub(crate) fn paths(&self) -> Vec<Path> {
        let mut seen = HashSet::new();
        let paths = self.list.iter().filter_map(Instance::path);
        paths
            .map(macro_path)
            .filter(|path| seen.insert(path_key(path)))
            .collect()
    }

    /// The nodes that have a name.
    pub(crate) fn named_ones(&self) -> impl Iterator<Item = &Instance> {
        self.list.iter().filter(|instance| !instance.hidden)
    }

    fn of_path(&self, path: &Path) -> Option<NodeId> {
        let declared = path.get_ident().and_then(|name| self.named(name));
        declared.or_else(|| self.by_path.get(&path_key(path)).copied())
    }

    fn named(&self, name: &Ident) -> Option<NodeId> {
        self.declared.get(&plain(name)).copied()
    }

    fn declare(
        &mut self,
        flow: &FlowSyntax,
        name: &Ident,
        kind: InstanceKind,
        declaration: Option<DeclarationIndex>,
        report: &mut Report,
    ) {
        let text = plain(name);
        let is_external = matches!(
            declaration.map(|index| &flow[index].source),
            Some(NodeSource::Path {
                external: Some(_),
                ..
            })
        );
        if refuse_reserved(name, report) {
            self.unusable.insert(text);
            return;
        }
        if self.declared.contains_key(&text) {
            let message = format!("a second node is named `{text}`");
            report.error(
                Code::Name,
                name.span(),
                message,
                "name one of them otherwise",
            );
            return;
        }
        let id = self.push(Instance {
            name: name.clone(),
            shown: text.clone(),
            kind,
            declaration,
            hidden: false,
            is_external,
            span: name.span(),
        });
        self.declared.insert(text, id);
    }

    fn push(&mut self, instance: Instance) -> NodeId {
        let id = NodeId(self.list.len());
        self.by_name.entry(plain(&instance.name)).or_insert(id);
        self.list.push(instance);
        id
    }
}

impl Index<NodeId> for Instances {
    type Output = Instance;

    fn index(&self, NodeId(index): NodeId) -> &Instance {
        &self.list[index]
    }
}

impl Instance {
    /// The path, if it is a function, a type or a flow.
    pub(crate) fn path(&self) -> Option<&Path> {
        match &self.kind {
            InstanceKind::Node(path) => Some(path),
            _ => None,
        }
    }

    /// Returns true if it is a type or a flow, and so has a value. A node whose value comes from
    /// outside has none, but only its declaration reveals that it is one.
    pub(crate) fn is_type(&self) -> bool {
        let last = self.path().and_then(|path| path.segments.last());
        !self.is_external && last.is_some_and(|segment| is_type_name(&segment.ident))
    }

    /// Its declaration. For a hidden node, that of its loop.
    pub(crate) fn declared<'a>(&self, flow: &'a FlowSyntax) -> Option<&'a NodeSyntax> {
        self.declaration.map(|index| &flow[index])
    }

    /// Returns true if the flow gives it a `timeout`.
    pub(crate) fn times_out(&self, flow: &FlowSyntax) -> bool {
        self.declared(flow)
            .is_some_and(|node| node.settings.timeout.is_some())
    }

    /// Returns true for a loop over items that keeps errors as values.
    pub(crate) fn collects_errors(&self, flow: &FlowSyntax) -> bool {
        self.declared(flow)
            .is_some_and(|node| node.settings.collect_errors.is_some())
    }
}

/// Reports an edge from an `end` or to `start`, unless a node with that name is reported.
fn check_direction(edge: &EdgeSyntax, reported: &HashSet<String>, report: &mut Report) {
    if let StepSyntax::End(..) = edge.from
        && !reported.contains("end")
    {
        let help = "what is to run before the end stands before it, `step >> end`; what comes from \
                    another step begins a statement of its own";
        let message = "nothing comes after an `end`";
        report.error(Code::Start, edge.arrow, message, help);
    }
    if let StepSyntax::Start(span) = edge.to
        && !reported.contains("start")
    {
        let help = "lead the edge to the step that is to run again";
        let message = "no edge leads back to `start`";
        report.error(Code::Start, span, message, help);
    }
}

fn contains_itself(path: &Path, report: &mut Report) {
    let message = format!("`{}` contains itself", path_text(path));
    let help = "lead an edge back to the step from which it has to run again";
    let span = path.segments.last().map(|last| last.ident.span());
    report.error(
        Code::Recursion,
        span.unwrap_or_else(Span::call_site),
        message,
        help,
    );
}
