//! The nodes that flows from documents may use.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::adapter::Adapter;
use crate::provided::Provided;

/// The nodes that flows from documents may use, by name. Made by [`registry!`](crate::registry).
///
/// A registry is a value: a program can have several, and two of them share nothing.
///
/// # Examples
///
/// ```
/// use flow_loader::registry;
/// use flow_runtime::prelude::*;
///
/// #[node]
/// fn greet(name: &str) -> String {
///     format!("Hello, {name}!")
/// }
///
/// let nodes = registry![greet];
/// assert_eq!(nodes.names().collect::<Vec<_>>(), ["greet"]);
/// ```
#[derive(Debug, Clone, Default)]
pub struct Registry {
    nodes: BTreeMap<String, Vec<Arc<Adapter>>>,
    /// What the values of nodes can take from the program.
    pub(crate) provided: Arc<Provided>,
}

/// The nodes of a name.
pub(crate) enum Named<'a> {
    /// There is none.
    Nothing,
    /// There is one.
    One(&'a Arc<Adapter>),
    /// There are several: these are their full paths.
    Several(Vec<&'static str>),
}

impl Registry {
    /// An empty registry.
    pub fn new() -> Self {
        Registry::default()
    }

    /// Adds the nodes of another registry, and what it provides. If a node of the same full path is
    /// here already, or a dependency of the same name, the other one replaces it.
    #[must_use]
    pub fn with(mut self, other: Registry) -> Self {
        for node in other.nodes.into_values().flatten() {
            self.add(node);
        }
        Arc::make_mut(&mut self.provided).extend(&other.provided);
        self
    }

    /// The names of its nodes, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.nodes.keys().map(String::as_str)
    }

    #[doc(hidden)]
    pub fn __add(&mut self, node: Adapter) {
        self.add(Arc::new(node));
    }

    fn add(&mut self, node: Arc<Adapter>) {
        let named = self.nodes.entry(node.name.to_owned()).or_default();
        named.retain(|other| other.path != node.path);
        named.push(node);
    }

    /// The node of a name, or of a full path.
    pub(crate) fn find(&self, name: &str) -> Named<'_> {
        if let Some(nodes) = self.nodes.get(name) {
            return match &nodes[..] {
                [only] => Named::One(only),
                several => Named::Several(several.iter().map(|node| node.path).collect()),
            };
        }
        let mut all = self.nodes.values().flatten();
        match all.find(|node| node.path == name) {
            Some(node) => Named::One(node),
            None => Named::Nothing,
        }
    }
}
