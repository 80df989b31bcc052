//! Nodes that run inside others: the children of parallel nodes with the nodes after them, and the
//! nodes of loops.

use std::collections::HashMap;

use flow_spec::document::Problems;
use flow_spec::{Code, Problem};

use super::nodes::{Kind, Node, Reference};

/// Nodes by their positions.
pub(super) struct Parts {
    ids: HashMap<String, usize>,
    /// The parallel node whose branch contains a node.
    branches: HashMap<usize, usize>,
    /// The loop that runs a node.
    loops: HashMap<usize, usize>,
}

impl Parts {
    pub(super) fn of(nodes: &[Node], ids: &HashMap<&str, usize>, problems: &mut Problems) -> Self {
        let mut parts = Parts {
            ids: ids.iter().map(|(id, at)| ((*id).to_owned(), *at)).collect(),
            branches: HashMap::new(),
            loops: HashMap::new(),
        };
        for (index, node) in nodes.iter().enumerate() {
            match &node.kind {
                Kind::Parallel { children, .. } => {
                    for child in children {
                        parts.add_branch(nodes, index, child, problems);
                    }
                }
                Kind::Loop { body, .. } => parts.add_loop(nodes, index, body, problems),
                _ => {}
            }
        }
        parts
    }

    pub(super) fn is_in_branch(&self, node: usize) -> bool {
        self.branches.contains_key(&node)
    }

    /// Returns true if the next node after a failure is given: at the node, or at the parallel node
    /// whose branch contains it.
    pub(super) fn routes_error(&self, nodes: &[Node], node: usize) -> bool {
        let around = self.branches.get(&node).map(|around| &nodes[*around]);
        let around = around.is_some_and(|around| around.on_error.is_some());
        around || nodes[node].on_error.is_some()
    }

    /// The next node after a success, and the pointer that names it.
    pub(super) fn after<'n>(&self, nodes: &'n [Node], node: usize) -> (Option<&'n str>, String) {
        let looped = self.loops.get(&node).map(|looped| &nodes[*looped]);
        let node = &nodes[node];
        match (&node.on_success, looped) {
            (Some(to), _) => (Some(&to.id), to.pointer.clone()),
            (None, Some(looped)) => (Some(&looped.id), node.pointer.clone()),
            (None, None) => (None, node.pointer.clone()),
        }
    }

    /// The branches of a parallel node, as the ids of each.
    pub(super) fn branches(&self, nodes: &[Node], children: &[Reference]) -> Vec<Vec<String>> {
        let branch = |child: &Reference| {
            let chain = self.chain(nodes, child);
            chain.flat_map(|at| nodes[at].made_ids()).collect()
        };
        children.iter().map(branch).collect()
    }

    /// A child of a parallel node and the nodes after it in the same branch.
    fn chain<'a>(
        &'a self,
        nodes: &'a [Node],
        child: &Reference,
    ) -> impl Iterator<Item = usize> + 'a {
        let first = self.ids.get(&child.id).copied();
        let parallel = first.and_then(|first| self.branches.get(&first));
        std::iter::successors(first, move |at| {
            let next = self.ids.get(&nodes[*at].on_success.as_ref()?.id)?;
            let is_in_it = parallel.is_some() && self.branches.get(next) == parallel;
            is_in_it.then_some(*next)
        })
    }

    /// Adds a child of a parallel node and the nodes after it, up to the node that follows the
    /// parallel node.
    fn add_branch(
        &mut self,
        nodes: &[Node],
        parallel: usize,
        child: &Reference,
        problems: &mut Problems,
    ) {
        let around = &nodes[parallel];
        let join = around.on_success.as_ref().map(|join| join.id.as_str());
        let mut next = Some(child);
        while let Some(reference) = next.filter(|next| Some(next.id.as_str()) != join) {
            let Some(&at) = self.ids.get(&reference.id) else {
                return;
            };
            let node = &nodes[at];
            if let Some(problem) = self.refused(around, node, at, reference) {
                problems.push(problem);
                return;
            }
            self.branches.insert(at, parallel);
            next = node.on_success.as_ref();
        }
    }

    /// The reason why a node cannot be in a branch.
    fn refused(
        &self,
        around: &Node,
        node: &Node,
        at: usize,
        reference: &Reference,
    ) -> Option<Problem> {
        let (id, parallel) = (&node.id, &around.id);
        let shape = |message: String, help: String| {
            Some(Problem::new(Code::ForkShape, &reference.pointer, message).help(help))
        };
        let what = match node.kind {
            Kind::Branch { .. } => Some("a branch"),
            Kind::Parallel { .. } => Some("a parallel node"),
            Kind::Loop { .. } => Some("a loop"),
            Kind::Agent { .. } | Kind::Human { .. } | Kind::Wait { .. } => None,
        };
        if let Some(what) = what {
            let message = format!("`{id}` is {what}, which cannot run in a branch of `{parallel}`");
            return shape(message, format!("let it follow after `{parallel}`"));
        }
        if self.branches.contains_key(&at) || self.loops.contains_key(&at) {
            let message = format!("`{id}` runs in a branch of `{parallel}`, and elsewhere too");
            let help = format!("add a second node for it, or let it follow after `{parallel}`");
            return shape(message, help);
        }
        let on_error = node.on_error.as_ref()?;
        let message = format!("`{id}` runs in a branch of `{parallel}`, which fails as a whole");
        let problem = Problem::new(Code::ForkShape, &on_error.pointer, message);
        Some(problem.help(format!("write `onError` at `{parallel}`")))
    }

    fn add_loop(
        &mut self,
        nodes: &[Node],
        looped: usize,
        body: &Reference,
        problems: &mut Problems,
    ) {
        let Some(&at) = self.ids.get(&body.id) else {
            return;
        };
        let (id, around) = (&nodes[at].id, &nodes[looped].id);
        let to = nodes[at].on_success.as_ref().filter(|to| to.id != *around);
        let (message, pointer, help) = match (&nodes[at].kind, to) {
            (Kind::Branch { .. }, _) => (
                format!("`{id}` is a branch, and a loop runs one node that leads nowhere else"),
                &body.pointer,
                "lead the cases of the branch back to it instead of using a loop",
            ),
            (_, Some(to)) => (
                format!(
                    "the loop `{around}` runs `{id}`, which leads to `{}`",
                    to.id
                ),
                &to.pointer,
                "remove `onSuccess`: what follows the loop is written at the loop",
            ),
            _ if self.loops.contains_key(&at) || self.is_in_branch(at) || at == looped => (
                format!("`{id}` runs in the loop `{around}`, and elsewhere too"),
                &body.pointer,
                "add a second node for it",
            ),
            _ => {
                self.loops.insert(at, looped);
                return;
            }
        };
        let problem = Problem::new(Code::Document, pointer, message);
        problems.push(problem.help(help));
    }
}
