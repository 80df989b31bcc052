//! All levels of a document at once, and lookup of a node by its path.

use crate::document::{EdgeDocument, FlowDocument, NodeDocument};
use crate::names::composed;

/// A node, and its path.
#[derive(Debug, Clone, PartialEq)]
pub struct NodeAt<'a> {
    /// The ids from the outermost flow down to the node: `agent.search`.
    pub path: String,
    /// The node.
    pub node: &'a NodeDocument,
}

/// An edge, and the path of its flow.
#[derive(Debug, Clone, PartialEq)]
pub struct EdgeAt<'a> {
    /// The path of the node whose flow has the edge. Empty for the outermost flow.
    pub path: String,
    /// The edge.
    pub edge: &'a EdgeDocument,
}

impl FlowDocument {
    /// Returns the nodes at all levels, in the order declared, each before those of its inner flow.
    ///
    /// # Examples
    ///
    /// ```
    /// # let text = r#"{ "version": "2.0.0", "nodes": [{ "type": "Agent", "id": "agent", "internalFlow": {
    /// #   "version": "2.0.0", "nodes": [{ "type": "search", "id": "search" }], "edges": [] } }], "edges": [] }"#;
    /// # let flow = flow_spec::FlowDocument::parse(text).unwrap();
    /// let paths: Vec<String> = flow.flatten_nodes().into_iter().map(|at| at.path).collect();
    /// assert_eq!(paths, ["agent", "agent.search"]);
    /// ```
    pub fn flatten_nodes(&self) -> Vec<NodeAt<'_>> {
        let mut found = Vec::new();
        self.walk("", &mut |path, node| {
            let path = path.to_owned();
            found.push(NodeAt { path, node });
        });
        found
    }

    /// Returns every edge at any level: those of the flow itself first, then those of each node's
    /// inner flow.
    pub fn flatten_edges<'a>(&'a self) -> Vec<EdgeAt<'a>> {
        let mut found = Vec::new();
        let mut add = |path: &str, edges: &'a [EdgeDocument]| {
            found.extend(edges.iter().map(|edge| EdgeAt {
                path: path.to_owned(),
                edge,
            }));
        };
        add("", &self.edges);
        self.walk("", &mut |path, node| {
            if let Some(inner) = &node.internal_flow {
                add(path, &inner.edges);
            }
        });
        found
    }

    /// Returns the node with this path: the ids from this flow down, separated by dots.
    ///
    /// Returns `None` for an empty path, for one that ends with a dot, and if a node on the path is
    /// not a flow. An id that contains a dot, which [`check`](FlowDocument::check) refuses, is
    /// never found.
    ///
    /// # Examples
    ///
    /// ```
    /// # let text = r#"{ "version": "2.0.0", "nodes": [{ "type": "Agent", "id": "agent", "internalFlow": {
    /// #   "version": "2.0.0", "nodes": [{ "type": "Search", "id": "search" }], "edges": [] } }], "edges": [] }"#;
    /// # let flow = flow_spec::FlowDocument::parse(text).unwrap();
    /// assert_eq!(flow.find("agent.search").unwrap().r#type, "Search");
    /// assert_eq!(flow.find("search"), None);
    /// ```
    pub fn find(&self, path: &str) -> Option<&NodeDocument> {
        let (id, rest) = match path.split_once('.') {
            Some((id, rest)) => (id, Some(rest)),
            None => (path, None),
        };
        let node = self.node(id)?;
        match rest {
            Some(rest) => node.internal_flow.as_ref()?.find(rest),
            None => Some(node),
        }
    }

    /// Returns the node of the flow itself with this id.
    pub fn node(&self, id: &str) -> Option<&NodeDocument> {
        let id = composed(id);
        let mut nodes = self.nodes.iter();
        nodes.find(|node| node.id == id && !id.is_empty())
    }

    /// Returns the nodes at any level that are flows, in the order of
    /// [`flatten_nodes`](FlowDocument::flatten_nodes). Excludes nodes whose flow was left out of
    /// the export.
    pub fn composite_nodes(&self) -> Vec<NodeAt<'_>> {
        let mut nodes = self.flatten_nodes();
        nodes.retain(|at| at.node.internal_flow.is_some());
        nodes
    }

    /// Returns the maximum nesting depth of inner flows: `0` for a flow without inner flows.
    pub fn max_depth(&self) -> usize {
        let inner = self.nodes.iter().filter_map(|node| {
            let flow = node.internal_flow.as_ref()?;
            Some(1 + flow.max_depth())
        });
        inner.max().unwrap_or(0)
    }

    /// Returns the namespaces under which its nodes and those of its inner flows run, each once,
    /// the outermost first.
    pub fn namespaces<'a>(&'a self) -> Vec<&'a str> {
        let mut found = Vec::new();
        let mut add = |namespace: &'a str| {
            if !namespace.is_empty() && !found.contains(&namespace) {
                found.push(namespace);
            }
        };
        add(&self.namespace);
        self.walk("", &mut |_, node| {
            if let Some(inner) = &node.internal_flow {
                add(&inner.namespace);
            }
        });
        found
    }

    /// Visits every node at any level with its path. A node comes before those inside it.
    fn walk<'a>(&'a self, around: &str, visit: &mut impl FnMut(&str, &'a NodeDocument)) {
        for node in &self.nodes {
            let path = super::node_path(around, &node.id);
            visit(&path, node);
            if let Some(inner) = &node.internal_flow {
                inner.walk(&path, visit);
            }
        }
    }
}
