//! Facts about nodes, by path, from a flow's structure.

use std::collections::HashMap;
use std::sync::Arc;

use flow_spec::document::RetrySettings;
use flow_spec::{FlowDocument, NodeDocument};

use super::pattern::{node_id, split_item};

/// The nodes of a flow by path. The body of a loop over items is at `…[]`.
#[derive(Debug, Default)]
pub(super) struct Structure(HashMap<String, Node>);

#[derive(Debug)]
struct Node {
    r#type: Arc<str>,
    attempts: u32,
}

impl Structure {
    /// Reads a structure. A text that is not a structure gives no facts.
    pub(super) fn parse(text: &str) -> Structure {
        let mut nodes = HashMap::new();
        if let Ok(flow) = FlowDocument::parse_spec(text) {
            let node = Node {
                r#type: flow.title().into(),
                attempts: 1,
            };
            nodes.insert(flow.namespace.clone(), node);
            add(&flow, &flow.namespace, &mut nodes);
        }
        Structure(nodes)
    }

    /// The function, type or flow of a node. Its name, if that is not known.
    pub(super) fn type_at(&self, path: &str) -> Arc<str> {
        let path = structural(path);
        match self.0.get(&path) {
            Some(node) => node.r#type.clone(),
            None => node_id(&path).into(),
        }
    }

    /// The number of attempts of a node, if known.
    pub(super) fn attempts_at(&self, path: &str) -> Option<u32> {
        self.0.get(&structural(path)).map(|node| node.attempts)
    }
}

fn add(flow: &FlowDocument, path: &str, nodes: &mut HashMap<String, Node>) {
    for node in &flow.nodes {
        let path = format!("{path}.{}", node.id);
        add_node(node, node.settings.retry.as_ref(), &path, nodes);
        if let Some(body) = node.body().and_then(|id| flow.node(id)) {
            let retry = node.settings.retry.as_ref();
            let retry = retry.or(body.settings.retry.as_ref());
            add_node(body, retry, &format!("{path}[]"), nodes);
        }
    }
}

fn add_node(
    node: &NodeDocument,
    retry: Option<&RetrySettings>,
    path: &str,
    nodes: &mut HashMap<String, Node>,
) {
    if let Some(inner) = &node.internal_flow {
        add(inner, path, nodes);
    }
    let known = Node {
        r#type: node.r#type.as_str().into(),
        attempts: retry.map_or(1, |retry| retry.attempts),
    };
    nodes.insert(path.to_owned(), known);
}

/// The path with `[]` instead of the index of each item.
fn structural(path: &str) -> String {
    let segment = |segment| match split_item(segment) {
        (name, Some(_)) => format!("{name}[]"),
        (name, None) => name.to_owned(),
    };
    let segments: Vec<String> = path.split('.').map(segment).collect();
    segments.join(".")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_structure_says_nothing() {
        let structure = Structure::parse("{");
        assert_eq!(&*structure.type_at("orders.lines[2]"), "lines");
        assert_eq!(structure.attempts_at("orders.lines[2]"), None);
    }
}
