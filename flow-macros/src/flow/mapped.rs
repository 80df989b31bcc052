//! The keys that the ports of a node read and write.

use syn::Ident;

use super::instances::{Instance, InstanceKind};
use super::syntax::{FlowSyntax, Mapping, NodeSource};
use crate::contract::{Contract, WritePort};
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

/// Returns true if a value is added to the value of its key: the node says so, or the mapping.
pub(crate) fn adds(mapping: &[Mapping], port: &WritePort) -> bool {
    let mut mapped = mapping.iter();
    port.adds || mapped.any(|one| !one.reads && one.adds && plain(&one.port) == plain(&port.name))
}

/// The keys to which a node adds.
pub(crate) fn added_keys(
    flow: &FlowSyntax,
    instance: &Instance,
    contract: &Contract,
) -> Vec<Ident> {
    let mapping = mapping(flow, instance);
    let added = contract.all_writes().filter(|port| adds(mapping, port));
    added
        .map(|port| key_of(mapping, &port.name, false).clone())
        .collect()
}

/// The key to which the body of a loop adds what it returns.
pub(crate) fn added_by_body<'a>(
    flow: &'a FlowSyntax,
    body: &Instance,
    contract: &'a Contract,
) -> Option<&'a Ident> {
    let mapping = mapping(flow, body);
    match &contract.writes[..] {
        [only] if contract.returns_one_value() && adds(mapping, only) => {
            Some(key_of(mapping, &only.name, false))
        }
        _ => None,
    }
}
