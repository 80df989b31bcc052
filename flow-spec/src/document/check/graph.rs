//! Converts a document to the graph that the analysis checks.
//!
//! The document has been read, so every name in it exists; unknown names are left out.

use std::collections::HashMap;

use serde_json::{Map, Value};

use crate::document::problem::{Problems, inside};
use crate::document::{ActionDocument, FlowDocument, NodeDocument, Schema, types};
use crate::graph::{
    Action, Branch, DEFAULT_ACTION, ERROR_ACTION, Edge, EdgeMapping, EdgeSource, EdgeTarget, Graph,
    Input, Node, NodeId, NodeKind, NodeRead, NodeWrite, Output, RaceBranch, ReadMode,
};

use super::mappings;
use super::uses::Uses;

/// A flow as a graph, with the place of each of its parts in the document.
pub(super) struct Places<'a> {
    pub(super) flow: &'a FlowDocument,
    /// The place of the flow.
    pub(super) pointer: String,
    ids: HashMap<&'a str, NodeId>,
    edges: Vec<PlacedEdge>,
    uses: Uses<'a>,
}

/// An edge of the graph, which may be an edge, an end or the entry of the document.
pub(super) struct PlacedEdge {
    edge: Edge,
    /// The pointers of its start, its action and its target.
    pub(super) parts: [String; 3],
    /// The pointer of its mappings.
    mappings: String,
}

impl PlacedEdge {
    /// The pointer of one of its mappings.
    pub(super) fn mapping(&self, index: usize) -> String {
        let mapping = self.edge.mappings.get(index);
        inside(&self.mappings, mapping.map_or("", |one| &one.source))
    }
}

impl<'a> Places<'a> {
    pub(super) fn new(flow: &'a FlowDocument, pointer: &str) -> Self {
        let ids = flow.nodes.iter().enumerate();
        let mut places = Places {
            flow,
            pointer: pointer.to_owned(),
            ids: ids
                .map(|(index, node)| (node.id.as_str(), NodeId(index)))
                .collect(),
            edges: Vec::new(),
            uses: Uses::of(flow),
        };
        places.add_entry();
        places.add_edges();
        places.add_ends();
        places.add_silent_ends();
        places
    }

    /// Builds the graph. Reports nodes whose mappings conflict.
    pub(super) fn graph(&self, problems: &mut Problems) -> Graph {
        let flow = self.flow;
        let nodes = flow.nodes.iter().map(|node| self.graph_node(node));
        let nodes: Vec<Node> = nodes.collect();
        mappings::check(self, problems);
        Graph {
            name: flow.title().to_owned(),
            inputs: inputs(&flow.inputs),
            outputs: outputs(&flow.outputs),
            nodes,
            edges: self
                .edges
                .iter()
                .map(|placed| placed.edge.clone())
                .collect(),
        }
    }

    /// The pointer of a node.
    pub(super) fn node(&self, index: usize) -> String {
        inside(&inside(&self.pointer, "nodes"), index)
    }

    /// The number of the node with this id.
    pub(super) fn id(&self, id: &str) -> Option<NodeId> {
        self.ids.get(id).copied()
    }

    pub(super) fn edge(&self, index: usize) -> Option<&PlacedEdge> {
        self.edges.get(index)
    }

    /// Adds the entry of a flow with one node, which need not name it.
    fn add_entry(&mut self) {
        let (id, pointer) = match (&self.flow.entry_node_id, &self.flow.nodes[..]) {
            (Some(id), _) => (id, inside(&self.pointer, "entryNodeId")),
            (None, [only]) if self.flow.ends.iter().all(|end| end.from.is_some()) => {
                (&only.id, self.node(0))
            }
            _ => return,
        };
        if let Some(entry) = self.id(id) {
            let edge = Edge {
                from: EdgeSource::Start,
                action: None,
                to: EdgeTarget::Node(entry),
                mappings: edge_mappings(&self.flow.entry_mappings),
            };
            self.edges.push(PlacedEdge {
                edge,
                parts: [pointer.clone(), pointer, self.node(entry.0)],
                mappings: inside(&self.pointer, "entryMappings"),
            });
        }
    }

    fn add_edges(&mut self) {
        for (index, edge) in self.flow.edges.iter().enumerate() {
            let (Some(from), Some(to)) = (self.id(&edge.from), self.id(&edge.to)) else {
                continue;
            };
            let pointer = inside(&inside(&self.pointer, "edges"), index);
            let edge = Edge {
                from: EdgeSource::Node(from),
                action: Some(edge.condition.clone()),
                to: EdgeTarget::Node(to),
                mappings: edge_mappings(&edge.mappings),
            };
            self.edges.push(PlacedEdge {
                edge,
                parts: ["from", "condition", "to"].map(|part| inside(&pointer, part)),
                mappings: inside(&pointer, "mappings"),
            });
        }
    }

    fn add_ends(&mut self) {
        for (index, end) in self.flow.ends.iter().enumerate() {
            let pointer = inside(&inside(&self.pointer, "ends"), index);
            let (from, parts) = match &end.from {
                None => (EdgeSource::Start, ["label"; 3]),
                Some(id) => match self.id(id) {
                    None => continue,
                    Some(id) => (EdgeSource::Node(id), ["from", "condition", "label"]),
                },
            };
            let edge = Edge {
                from,
                action: end.condition.clone(),
                to: EdgeTarget::End(end.label.clone()),
                mappings: edge_mappings(&end.mappings),
            };
            self.edges.push(PlacedEdge {
                edge,
                parts: parts.map(|part| inside(&pointer, part)),
                mappings: inside(&pointer, "mappings"),
            });
        }
    }

    /// Adds the ends of documents without `ends`, which other tools write. There, a node without
    /// successors ends the flow if it lists no actions.
    fn add_silent_ends(&mut self) {
        let flow = self.flow;
        if !flow.ends.is_empty() {
            return;
        }
        for (index, node) in flow.nodes.iter().enumerate() {
            let id = node.id.as_str();
            let goes_on = self.uses.conditions.get(id).is_some_and(|of| of.has_edge);
            let uses = &self.uses;
            let is_part = [&uses.bodies, &uses.in_branches, &uses.undo_nodes];
            let is_part = is_part.iter().any(|ids| ids.contains(id));
            if node.actions.is_some() || goes_on || is_part {
                continue;
            }
            let edge = Edge {
                from: EdgeSource::Node(NodeId(index)),
                action: None,
                to: EdgeTarget::End(DEFAULT_ACTION.to_owned()),
                mappings: Vec::new(),
            };
            self.edges.push(PlacedEdge {
                edge,
                parts: [self.node(index), self.node(index), self.node(index)],
                mappings: self.node(index),
            });
        }
    }

    fn graph_node(&self, node: &NodeDocument) -> Node {
        let reads = node
            .inputs
            .values()
            .map(|(name, rust_type, required)| NodeRead {
                key: key(&node.mappings.inputs, name),
                mode: ReadMode::Borrow,
                optional: !required,
                rust_type: rust_type.unwrap_or_default().to_owned(),
                mapped: false,
            });
        let write = |name: &String, optional: bool| NodeWrite {
            key: key(&node.mappings.outputs, name),
            optional,
            adds: node.outputs.adds(name),
            rust_type: node.outputs.rust_type(name).unwrap_or_default().to_owned(),
        };
        let action = |action: ActionDocument| {
            let always = action.writes.iter().map(|name| write(name, false));
            let maybe = action.may_write.iter().map(|name| write(name, true));
            Action {
                writes: always.chain(maybe).collect(),
                name: action.name,
            }
        };
        Node {
            name: node.id.clone(),
            kind: self.kind(node),
            reads: reads.collect(),
            actions: self.actions(node).into_iter().map(action).collect(),
            fallible: node.fallible,
            undo: node.settings.undo.as_deref().and_then(|id| self.id(id)),
            was: node.settings.was.clone(),
        }
    }

    /// The actions of a node, or those of its edges if it lists none. The results of a node that a
    /// loop runs for each item are collected for any action.
    fn actions(&self, node: &NodeDocument) -> Vec<ActionDocument> {
        let id = node.id.as_str();
        let default = || ActionDocument {
            name: DEFAULT_ACTION.to_owned(),
            ..ActionDocument::default()
        };
        if self.uses.bodies.contains(id) {
            return vec![default()];
        }
        if [types::UNDO, types::COMMIT].contains(&node.r#type.as_str()) {
            return vec![default()];
        }
        if node.r#type == types::FIRST {
            return self.actions_of_race(node);
        }
        if let Some(actions) = &node.actions {
            return actions.clone();
        }
        let names = self.conditions(node);
        let outputs = node.outputs.properties.keys().cloned();
        let (writes, may_write): (Vec<_>, Vec<_>) =
            outputs.partition(|name| node.outputs.requires(name));
        let action = |name: &str| ActionDocument {
            name: name.to_owned(),
            writes: writes.clone(),
            may_write: may_write.clone(),
        };
        // A node that can fail takes "error" besides its actions, and writes nothing then.
        let is_action = |name: &&str| !(node.fallible && *name == ERROR_ACTION);
        names.into_iter().filter(is_action).map(action).collect()
    }

    /// The conditions of the edges of a node that lists no actions. The last node of a branch of a
    /// race has those of the race that no other branch names.
    fn conditions(&self, node: &NodeDocument) -> Vec<&'a str> {
        let id = node.id.as_str();
        let conditions = |id: &str| self.uses.conditions.get(id).map(|of| of.names.clone());
        let is_open = ![types::WAIT, types::EACH].contains(&node.r#type.as_str());
        let names = match self.uses.decides_for.get(id).filter(|_| is_open) {
            Some(race) => {
                let named = race.actions_of_branches();
                let mut names = conditions(&race.id).unwrap_or_default();
                names.retain(|name| *name != ERROR_ACTION && !named.contains(&Some(*name)));
                Some(names).filter(|names| !names.is_empty())
            }
            None => conditions(id),
        };
        names.unwrap_or_else(|| vec![DEFAULT_ACTION])
    }

    /// The actions of the branches of a race, each once. The nodes in the branches write.
    pub(super) fn actions_of_race(&self, race: &NodeDocument) -> Vec<ActionDocument> {
        let mut actions: Vec<ActionDocument> = Vec::new();
        let mut add = |name: &str| {
            if actions.iter().all(|action| action.name != name) {
                actions.push(ActionDocument {
                    name: name.to_owned(),
                    ..ActionDocument::default()
                });
            }
        };
        let branches = race.branches().into_iter().zip(race.actions_of_branches());
        for (ids, action) in branches {
            let last = ids.last().and_then(|id| self.id(id));
            let last = last.map(|id| &self.flow.nodes[id.0]);
            match (action, last) {
                (Some(action), _) => add(action),
                // A race directly inside a race is reported.
                (None, Some(last)) if last.r#type != types::FIRST => {
                    (self.actions(last).iter()).for_each(|action| add(&action.name));
                }
                (None, _) => add(DEFAULT_ACTION),
            }
        }
        actions
    }

    fn kind(&self, node: &NodeDocument) -> NodeKind {
        let text = |name: &str| node.params.get(name).and_then(Value::as_str);
        match node.r#type.as_str() {
            types::FORK => NodeKind::Fork(self.branches(node)),
            types::FIRST => NodeKind::Race(self.race(node)),
            types::EACH => match (text("item"), text("body").and_then(|id| self.id(id))) {
                (Some(item), Some(body)) => NodeKind::Each {
                    body,
                    item: item.to_owned(),
                    writes: Vec::new(),
                },
                _ => NodeKind::Step,
            },
            types::BRANCH => NodeKind::Branch,
            types::WAIT => NodeKind::Wait,
            types::UNDO => NodeKind::Undo,
            types::COMMIT => NodeKind::Commit,
            types::HUMAN => NodeKind::Human,
            types::SIGNAL => NodeKind::Signal,
            other if node.is_flow() => NodeKind::Flow(other.to_owned()),
            _ => NodeKind::Step,
        }
    }

    fn branches(&self, node: &NodeDocument) -> Vec<Branch> {
        let branches = node.branches().into_iter();
        let chain = |ids: Vec<&str>| Branch {
            chain: ids.into_iter().filter_map(|id| self.id(id)).collect(),
        };
        branches.map(chain).collect()
    }

    fn race(&self, node: &NodeDocument) -> Vec<RaceBranch> {
        let branches = node.branches().into_iter().zip(node.actions_of_branches());
        let branch = |(ids, action): (Vec<&str>, Option<&str>)| RaceBranch {
            chain: ids.into_iter().filter_map(|id| self.id(id)).collect(),
            action: action.map(str::to_owned),
        };
        branches.map(branch).collect()
    }
}

/// The mappings of an edge, from the names of the values to their new names.
fn edge_mappings(mappings: &Map<String, Value>) -> Vec<EdgeMapping> {
    let mapping = |(source, key): (&String, &Value)| EdgeMapping {
        key: key.as_str().unwrap_or_default().to_owned(),
        source: source.clone(),
    };
    mappings.iter().map(mapping).collect()
}

/// The flow's key for a name of the node.
pub(super) fn key(mappings: &Map<String, Value>, name: &str) -> String {
    let mapped = mappings.get(name).and_then(Value::as_str);
    mapped.unwrap_or(name).to_owned()
}

fn inputs(schema: &Schema) -> Vec<Input> {
    let input = |(name, rust_type, required): (&str, Option<&str>, bool)| Input {
        key: name.to_owned(),
        optional: !required && schema.default_of(name).is_none() && !schema.omits_default_of(name),
        rust_type: rust_type.unwrap_or_default().to_owned(),
    };
    schema.values().map(input).collect()
}

fn outputs(schema: &Schema) -> Vec<Output> {
    let output = |(name, rust_type, required): (&str, Option<&str>, bool)| Output {
        key: name.to_owned(),
        optional: !required,
        rust_type: rust_type.unwrap_or_default().to_owned(),
    };
    schema.values().map(output).collect()
}
