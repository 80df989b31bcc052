//! The nodes of a flow by path, with what contains them.

use std::collections::HashMap;

use flow_runtime::engine::NodePath;
use flow_spec::{FlowDocument, NodeDocument};

/// The nodes of a flow and of the flows inside it, by path. The body of a loop over items is at
/// `…[]`.
pub(crate) struct Layout<'a>(HashMap<String, NodeIn<'a>>);

/// A node, and what contains it.
#[derive(Clone, Copy)]
pub(crate) struct NodeIn<'a> {
    pub(crate) node: &'a NodeDocument,
    pub(crate) flow: &'a FlowDocument,
    /// The fork or race of the flow in which it is, and the number of the branch.
    pub(crate) fork: Option<(&'a NodeDocument, usize)>,
    /// The loop whose body it is.
    pub(crate) each: Option<&'a NodeDocument>,
}

impl<'a> Layout<'a> {
    pub(crate) fn new(flow: &'a FlowDocument) -> Self {
        let mut nodes = HashMap::new();
        add(flow, &flow.namespace, &mut nodes);
        Layout(nodes)
    }

    /// The node at a path, which may have the indices of items.
    pub(crate) fn at(&self, path: &str) -> Option<NodeIn<'a>> {
        let path = NodePath::new(path).of_any_item();
        self.0.get(&path).copied()
    }
}

fn add<'a>(flow: &'a FlowDocument, path: &str, nodes: &mut HashMap<String, NodeIn<'a>>) {
    let mut forks: HashMap<&str, (&NodeDocument, usize)> = HashMap::new();
    for fork in &flow.nodes {
        for (number, branch) in fork.branches().into_iter().enumerate() {
            forks.extend(branch.into_iter().map(|node| (node, (fork, number))));
        }
    }
    for node in &flow.nodes {
        let path = format!("{path}.{}", node.id);
        let fork = forks.get(node.id.as_str()).copied();
        let body = node.body().and_then(|id| flow.node(id));
        let bodies = body.map(|body| (body, format!("{path}[]"), Some(node)));
        for (node, path, each) in bodies.into_iter().chain([(node, path, None)]) {
            if let Some(inner) = &node.internal_flow {
                add(inner, &path, nodes);
            }
            let node = NodeIn {
                node,
                flow,
                fork,
                each,
            };
            nodes.insert(path, node);
        }
    }
}

impl NodeIn<'_> {
    /// Returns true for the last node of a branch.
    pub(crate) fn is_last_of_branch(&self) -> bool {
        self.fork.is_some_and(|(fork, number)| {
            let branches = fork.branches();
            let branch = branches.get(number);
            branch.and_then(|branch| branch.last()) == Some(&self.node.id.as_str())
        })
    }
}

/// The key of the flow that a node reads under this name.
pub(crate) fn key_of_input<'a>(node: &'a NodeDocument, name: &'a str) -> &'a str {
    let key = node.mappings.inputs.get(name);
    key.and_then(|key| key.as_str()).unwrap_or(name)
}

/// The key of the flow that a node writes under this name.
pub(crate) fn key_of_output<'a>(node: &'a NodeDocument, name: &'a str) -> &'a str {
    let key = node.mappings.outputs.get(name);
    key.and_then(|key| key.as_str()).unwrap_or(name)
}

/// The names under which a node writes values on an action.
pub(crate) fn written<'a>(
    node: &'a NodeDocument,
    action: &'a str,
) -> impl Iterator<Item = &'a str> {
    let actions = node.actions.iter().flatten();
    let taken = actions.filter(move |it| it.name == action);
    let names = taken.flat_map(|it| it.writes.iter().chain(&it.may_write));
    names.map(String::as_str)
}
