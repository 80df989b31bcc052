//! The keys that travel along an arrow: what its node wrote and a later one reads.

use std::collections::{BTreeMap, BTreeSet};

use flow_spec::DEFAULT_ACTION;
use flow_spec::document::{FlowDocument, NodeDocument, Schema};
use serde_json::{Map, Value};

use super::scene::Place;

/// What the nodes of a flow read and write, and where their arrows lead.
pub(super) struct Keys<'a> {
    flow: &'a FlowDocument,
    nodes: Vec<Access<'a>>,
    next: BTreeMap<Place, Vec<Way<'a>>>,
}

/// The keys of a node, under their names in the flow.
struct Access<'a> {
    node: &'a NodeDocument,
    reads: BTreeSet<&'a str>,
    /// What it writes whatever its action is.
    always_writes: BTreeSet<&'a str>,
}

/// An arrow.
#[derive(Clone, Copy)]
pub(super) struct Way<'a> {
    pub(super) from: Place,
    pub(super) action: Option<&'a str>,
    /// The keys that the arrow writes under other names.
    pub(super) mappings: Option<&'a Map<String, Value>>,
    pub(super) to: Place,
}

impl<'a> Way<'a> {
    /// Each key whose value the arrow writes, with the key that gets it.
    fn mappings(&self) -> impl Iterator<Item = (&'a str, &'a str)> {
        let mappings = self.mappings.into_iter().flatten();
        mappings.filter_map(|(source, key)| Some((source.as_str(), key.as_str()?)))
    }
}

impl<'a> Keys<'a> {
    /// The nodes are those that places count, and the arrows lead between them.
    pub(super) fn new(
        flow: &'a FlowDocument,
        nodes: impl Iterator<Item = &'a NodeDocument>,
        arrows: &[Way<'a>],
    ) -> Self {
        let mut next: BTreeMap<Place, Vec<Way<'_>>> = BTreeMap::new();
        for way in arrows {
            next.entry(way.from).or_default().push(*way);
        }
        Keys {
            flow,
            nodes: nodes.map(Access::of).collect(),
            next,
        }
    }

    /// The keys that travel along an arrow: those that it maps, then those that its node writes, in
    /// the order in which it names them.
    pub(super) fn along(&self, way: &Way<'a>) -> Vec<String> {
        let written: Vec<&str> = match (way.from, way.action) {
            (Place::Start, _) => names(&self.flow.inputs).collect(),
            (Place::Member(index), action) => self.nodes[index].written(action),
            (Place::End(_), _) => Vec::new(),
        };
        let is_mapped = |key: &str| way.mappings().any(|(_, other)| other == key);
        let written = written.into_iter();
        let written = written.filter(|key| !is_mapped(key) && self.is_read(key, way.to));
        let mapped = way.mappings();
        let mapped = mapped.map(|(source, key)| format!("{key} <- {source}"));
        mapped.chain(written.map(str::to_owned)).collect()
    }

    /// Whether a node or an arrow reads the key from here on, before another one writes it anew; or
    /// the flow returns it.
    fn is_read(&self, key: &str, place: Place) -> bool {
        let mut seen = BTreeSet::from([place]);
        let mut open = vec![place];
        while let Some(place) = open.pop() {
            match place {
                Place::End(_) if self.flow.outputs.properties.contains_key(key) => return true,
                Place::Member(index) if self.nodes[index].reads.contains(key) => return true,
                Place::Member(index) if self.nodes[index].always_writes.contains(key) => continue,
                _ => {}
            }
            for way in self.next.get(&place).into_iter().flatten() {
                if way.mappings().any(|(source, _)| source == key) {
                    return true;
                }
                let is_overwritten = way.mappings().any(|(_, other)| other == key);
                if !is_overwritten && seen.insert(way.to) {
                    open.push(way.to);
                }
            }
        }
        false
    }
}

/// The keys that travel from a node in a branch of a fork to the next one.
pub(super) fn in_branch(from: &NodeDocument, to: &NodeDocument) -> Vec<String> {
    let (from, to) = (Access::of(from), Access::of(to));
    let written = from.written(Some(DEFAULT_ACTION)).into_iter();
    let read = written.filter(|key| to.reads.contains(key));
    read.map(str::to_owned).collect()
}

impl<'a> Access<'a> {
    fn of(node: &'a NodeDocument) -> Self {
        let reads = names(&node.inputs).map(|name| mapped(&node.mappings.inputs, name));
        let always = node.outputs.required.iter();
        let always_writes = always.map(|name| mapped(&node.mappings.outputs, name));
        Access {
            node,
            reads: reads.collect(),
            always_writes: always_writes.collect(),
        }
    }

    /// What the node writes on an action; all its outputs in a document that does not say.
    fn written(&self, action: Option<&str>) -> Vec<&'a str> {
        let outputs = &self.node.mappings.outputs;
        let names: Vec<&str> = match &self.node.actions {
            None => names(&self.node.outputs).collect(),
            Some(actions) => {
                let taken = actions
                    .iter()
                    .filter(|taken| Some(taken.name.as_str()) == action);
                let written =
                    taken.flat_map(|action| action.writes.iter().chain(&action.may_write));
                written.map(String::as_str).collect()
            }
        };
        names
            .into_iter()
            .map(|name| mapped(outputs, name))
            .collect()
    }
}

fn names(schema: &Schema) -> impl Iterator<Item = &str> {
    schema.properties.keys().map(String::as_str)
}

/// The key that stands for a name.
fn mapped<'a>(mappings: &'a Map<String, Value>, name: &'a str) -> &'a str {
    mappings.get(name).and_then(Value::as_str).unwrap_or(name)
}
