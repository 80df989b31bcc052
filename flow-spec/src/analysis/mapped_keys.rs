//! Checks that the mappings of edges write keys that are read where the edge leads, each once. This
//! pass comes before the points, because an edge with a wrong key shows nothing about values.

use std::collections::{HashMap, HashSet};

use super::found::Found;
use super::names::reserved_key;
use super::routes::{Effect, Routes, Target};
use super::shape::Shape;
use super::undo::Undos;
use super::words;
use crate::diagnostic::{Code, Diagnostic, Site};
use crate::graph::{ERROR_KEY, EdgeMapping, EdgePart, EdgeTarget, Graph, NodeId, NodeKind};
use crate::suggest::{closest, question_of_name};

/// Reports mappings that an edge has twice, and those whose keys are not read where the edge leads.
/// Marks the edges of the latter.
pub(super) fn check(
    graph: &Graph,
    shape: &Shape,
    undos: &Undos,
    routes: &mut Routes,
    found: &mut Found,
) {
    let mut readers = Readers {
        graph,
        shape,
        undos,
        reads: HashMap::new(),
        outputs: (graph.outputs.iter().map(|output| output.key.as_str())).collect(),
    };
    for (edge, route) in routes.edges.iter_mut().enumerate() {
        // Otherwise the target of the edge is not known.
        let is_clear = route.to != Target::Lost && route.effect != Effect::Everything;
        let mut earlier = Earlier::default();
        for (index, mapping) in graph.edges[edge].mappings.iter().enumerate() {
            if found.is_full() {
                return;
            }
            if let Some(diagnostic) = earlier.check(graph, edge, index, mapping) {
                found.push(diagnostic);
            } else if is_clear && let Some(diagnostic) = readers.check(edge, index, mapping) {
                route.maps_unread = true;
                found.push(diagnostic);
            }
        }
    }
}

/// The keys that are read where edges lead.
struct Readers<'g> {
    graph: &'g Graph,
    shape: &'g Shape,
    undos: &'g Undos,
    /// The keys that a node reads, or a node inside it, or one that takes these back.
    reads: HashMap<NodeId, Vec<&'g str>>,
    outputs: Vec<&'g str>,
}

impl<'g> Readers<'g> {
    fn check(&mut self, edge: usize, index: usize, mapping: &EdgeMapping) -> Option<Diagnostic> {
        let EdgeMapping { key, source } = mapping;
        let site = Site::Edge(edge, EdgePart::Key(index));
        if key == ERROR_KEY {
            return Some(reserved_key(site));
        }
        let graph = self.graph;
        let to = &graph.edges[edge].to;
        let keys = match to {
            EdgeTarget::Node(id) => self.reads(*id),
            EdgeTarget::End(_) => &self.outputs,
        };
        if keys.contains(&key.as_str()) {
            return None;
        }
        let (message, reader, elsewhere) = match to {
            EdgeTarget::Node(id) => {
                let name = format!("`{}`", words::name(graph, *id));
                (
                    format!("{name} does not read `{key}`"),
                    format!("{name} reads"),
                    format!("write this on the edge to the node that reads `{key}`"),
                )
            }
            EdgeTarget::End(_) => (
                format!("`{key}` is not an output of the flow"),
                "the flow returns".to_owned(),
                format!("declare the output `{key}`"),
            ),
        };
        let help = if keys.is_empty() {
            format!("{reader} nothing: {elsewhere}, or remove this")
        } else if keys.contains(&source.as_str()) {
            format!("what {reader} comes first: `{source} <- {key}`")
        } else if let Some(near) = closest(key, keys.iter().copied()) {
            question_of_name(key, near)
        } else {
            format!("{reader} `{}`", keys.join("`, `"))
        };
        Some(Diagnostic::new(Code::NamesNothing, site, message).help(help))
    }

    fn reads(&mut self, id: NodeId) -> &Vec<&'g str> {
        let (graph, shape, undos) = (self.graph, self.shape, self.undos);
        self.reads.entry(id).or_insert_with(|| {
            let mut seen = HashSet::new();
            let nodes = std::iter::once(id).chain(shape.inside(id));
            let keys = nodes.flat_map(|id| {
                let owner = shape.place(id).map(|place| &graph.node(place.owner).kind);
                let item = match owner {
                    Some(NodeKind::Each { item, .. }) => Some(item),
                    _ => None,
                };
                let nodes = std::iter::once(id).chain(undos.of(id));
                let keys = nodes.flat_map(|id| graph.node(id).reads.iter());
                let keys = keys.map(|read| &read.key);
                keys.filter(move |key| Some(*key) != item)
            });
            let keys = keys.map(String::as_str);
            keys.filter(|key| seen.insert(*key)).collect()
        })
    }
}

/// The previous mappings of one edge, by the key that they write and by the key that they read.
#[derive(Default)]
struct Earlier<'g> {
    keys: HashMap<&'g str, &'g EdgeMapping>,
    sources: HashMap<&'g str, &'g EdgeMapping>,
}

impl<'g> Earlier<'g> {
    /// Reports a mapping whose key or source an earlier one also has.
    fn check(
        &mut self,
        graph: &Graph,
        edge: usize,
        index: usize,
        mapping: &'g EdgeMapping,
    ) -> Option<Diagnostic> {
        let EdgeMapping { key, source } = mapping;
        if let Some(other) = self.keys.insert(key, mapping) {
            let other = &other.source;
            let message = format!("this edge writes both `{other}` and `{source}` to `{key}`");
            let site = Site::Edge(edge, EdgePart::Key(index));
            let help = "give each its own key";
            return Some(Diagnostic::new(Code::MappingClash, site, message).help(help));
        }
        let first = &self.sources.insert(source, mapping)?.key;
        let help = match &graph.edges[edge].to {
            EdgeTarget::Node(id) => format!(
                "let `{name}` read both from `{first}`: `node {name}: … {{ {key} <- {first} }};`",
                name = words::name(graph, *id)
            ),
            EdgeTarget::End(_) => "let a node write one of them, or remove one".to_owned(),
        };
        let message = format!("this edge reads `{source}` twice");
        let site = Site::Edge(edge, EdgePart::Source(index));
        Some(Diagnostic::new(Code::MappingClash, site, message).help(help))
    }
}
