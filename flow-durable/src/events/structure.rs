//! The types of nodes, by path, from a flow's structure.

use std::collections::HashMap;
use std::sync::Arc;

use flow_runtime::engine::NodePath;
use flow_spec::{FlowDocument, NodeDocument};

/// The function, type or flow of each node of a flow, by path. The body of a loop over items is at
/// `…[]`.
#[derive(Debug, Default)]
pub(super) struct Structure {
    hash: String,
    types: HashMap<String, Arc<str>>,
    document: Option<FlowDocument>,
}

impl Structure {
    /// Reads a structure with this hash. A text that is not a structure results in an empty one.
    pub(super) fn parse(hash: &str, text: &str) -> Structure {
        let mut types = HashMap::new();
        let document = FlowDocument::parse_spec(text).ok();
        if let Some(flow) = &document {
            types.insert(flow.namespace.clone(), flow.title().into());
            add(flow, &flow.namespace, &mut types);
        }
        Structure {
            hash: hash.to_owned(),
            types,
            document,
        }
    }

    /// The hash of its text.
    pub(super) fn hash(&self) -> &str {
        &self.hash
    }

    /// The structure itself, if it was one.
    pub(super) fn document(&self) -> Option<&FlowDocument> {
        self.document.as_ref()
    }

    /// The function, type or flow of a node, or its name if that is not known.
    pub(super) fn type_at(&self, path: &str) -> Arc<str> {
        let path = NodePath::new(path);
        match self.types.get(&path.of_any_item()) {
            Some(r#type) => r#type.clone(),
            None => path.node().into(),
        }
    }
}

fn add(flow: &FlowDocument, path: &str, types: &mut HashMap<String, Arc<str>>) {
    for node in &flow.nodes {
        let path = format!("{path}.{}", node.id);
        if let Some(body) = node.body().and_then(|id| flow.node(id)) {
            add_node(body, format!("{path}[]"), types);
        }
        add_node(node, path, types);
    }
}

fn add_node(node: &NodeDocument, path: String, types: &mut HashMap<String, Arc<str>>) {
    if let Some(inner) = &node.internal_flow {
        add(inner, &path, types);
    }
    types.insert(path, node.r#type.as_str().into());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_structure_says_nothing() {
        let structure = Structure::parse("", "{");
        assert_eq!(&*structure.type_at("orders.lines[2]"), "lines");
    }
}
