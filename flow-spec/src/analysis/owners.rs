//! The inputs and writers from which keys have their types.

use std::collections::{HashMap, HashSet};

use super::own_types::Apart;
use super::spelling::is_named;
use crate::diagnostic::{Code, Diagnostic, Site};
use crate::graph::{EdgeMapping, Graph, NodeId, NodeKind, NodeWrite};

/// The source of a key's type.
pub(super) struct Owner<'g> {
    pub(super) rust_type: &'g str,
    pub(super) site: Site,
    pub(super) what: String,
    /// The types of its other writers, which are reported. A reader with one of them is part of
    /// that mistake.
    pub(super) others: Vec<&'g str>,
}

impl<'g> Owner<'g> {
    pub(super) fn writer(graph: &'g Graph, id: NodeId, write: &'g NodeWrite) -> Owner<'g> {
        let node = graph.node(id);
        Owner {
            rust_type: &write.rust_type,
            site: Site::Node(id),
            what: match &node.kind {
                NodeKind::Each { .. } if write.rust_type.ends_with(", NodeError>>") => {
                    format!("with `collect_errors`, `{}` writes it as", node.name)
                }
                _ => format!("`{}` writes it as", node.name),
            },
            others: Vec::new(),
        }
    }

    /// The text for its place.
    pub(super) fn text(&self, key: &str) -> String {
        format!("`{key}` is `{}` here", self.rust_type)
    }

    /// The report of a reader with another type. It is at the mapping if an edge gives the key its
    /// value.
    pub(super) fn mismatch(&self, reader: Site, key: &str, message: String) -> Diagnostic {
        match self.site {
            Site::Edge(..) => Diagnostic::new(Code::TypeMismatch, self.site, message),
            site => {
                Diagnostic::new(Code::TypeMismatch, reader, message).related(site, self.text(key))
            }
        }
    }
}

/// Adds the keys to which nodes add and that nothing else writes: with the types of the outputs, or
/// of the first readers.
pub(super) fn own_added_keys<'g>(
    graph: &'g Graph,
    apart: &Apart,
    owners: &mut HashMap<&'g str, Owner<'g>>,
) {
    let writers = graph.node_ids().filter(|id| !apart.contains(*id));
    let writes = writers.flat_map(|id| &graph.node(id).actions);
    let writes = writes.flat_map(|action| &action.writes);
    let added: HashSet<&str> = writes
        .filter(|write| write.adds)
        .map(|write| write.key.as_str())
        .collect();
    let outputs = graph.outputs.iter().enumerate().map(|(at, output)| {
        let what = "the output is".to_owned();
        (&output.key, &output.rust_type, Site::Output(at), what)
    });
    let items: HashMap<NodeId, &str> = graph
        .nodes
        .iter()
        .filter_map(|node| match &node.kind {
            NodeKind::Each { body, item, .. } => Some((*body, item.as_str())),
            _ => None,
        })
        .collect();
    let reads = graph.node_ids().flat_map(|id| {
        let (node, item) = (graph.node(id), items.get(&id).copied());
        let reads = node.reads.iter();
        reads
            .filter(move |read| Some(read.key.as_str()) != item)
            .map(move |read| {
                let what = format!("`{}` reads it as", node.name);
                (&read.key, &read.rust_type, Site::Node(id), what)
            })
    });
    for (key, rust_type, site, what) in outputs.chain(reads) {
        // A slice is read from several types.
        let is_owned = is_named(rust_type) && !rust_type.starts_with('[') && rust_type != "str";
        if is_owned && added.contains(key.as_str()) {
            owners.entry(key).or_insert(Owner {
                rust_type,
                site,
                what,
                others: Vec::new(),
            });
        }
    }
}

pub(super) fn other_writer(
    name: &str,
    id: NodeId,
    write: &NodeWrite,
    first: &Owner<'_>,
) -> Diagnostic {
    let (key, what) = if first.site == Site::Node(id) {
        (&write.key, "with another action as")
    } else {
        (&write.key, first.what.as_str())
    };
    let message = format!(
        "`{name}` writes `{key}` as `{}`, but {what} `{}`",
        write.rust_type, first.rust_type
    );
    let help = if first.site == Site::Node(id) {
        "a key has one type: give both the same, or name one of them otherwise".to_owned()
    } else {
        format!(
            "a key has one type: let one of them write another key, such as by a mapping `{{ {key} -> {key}_2 }}`"
        )
    };
    Diagnostic::new(Code::WriterTypes, Site::Node(id), message)
        .help(help)
        .related(first.site, first.text(&write.key))
}

pub(super) fn other_mapping(
    site: Site,
    mapping: &EdgeMapping,
    given: &Owner<'_>,
    own: &Owner<'_>,
) -> Diagnostic {
    let EdgeMapping { key, source } = mapping;
    let message = format!(
        "this edge gives `{key}` a value of type `{}`, but {} `{}`",
        given.rust_type, own.what, own.rust_type
    );
    Diagnostic::new(Code::TypeMismatch, site, message)
        .help(format!("name a key of type `{}`", own.rust_type))
        .related(given.site, given.text(source))
        .related(own.site, own.text(key))
}
