//! The keys that the ports of a node read and write.

use syn::Ident;

use super::instances::{Instance, InstanceKind};
use super::syntax::{FlowSyntax, Mapping, NodeSource};
use crate::names::plain;

/// The mapping of a declared node. The mapping of a loop over items belongs to its body.
pub(crate) fn mapping<'a>(flow: &'a FlowSyntax, instance: &Instance) -> &'a [Mapping] {
    match (
        &instance.kind,
        instance.declared(flow).map(|node| &node.source),
    ) {
        (
            InstanceKind::Node(_),
            Some(NodeSource::Path { mapping, .. } | NodeSource::Each { mapping, .. }),
        ) => mapping,
        _ => &[],
    }
}

/// The key that a port reads or writes: its own name, unless the mapping has another one.
pub(crate) fn key_of<'a>(mapping: &'a [Mapping], port: &'a Ident, reads: bool) -> &'a Ident {
    let mapped = mapping
        .iter()
        .find(|one| one.reads == reads && plain(&one.port) == plain(port));
    mapped.map_or(port, |one| &one.key)
}
