//! Checks mappings: each port has to exist and be mapped once; the keys have to be written and must
//! not conflict.

use flow_spec::{Code, ERROR_KEY, Node};
use syn::Ident;

use crate::contract::Contract;
use crate::flow::instances::{Instance, InstanceKind, Instances};
use crate::flow::mapped::{key_of, mapping};
use crate::flow::syntax::{FlowSyntax, Mapping};
use crate::names::plain;
use crate::report::Report;

pub(super) fn check_mapping(
    mapping: &[Mapping],
    instance: &Instance,
    contract: &Contract,
    report: &mut Report,
) {
    for (index, one) in mapping.iter().enumerate() {
        check_port(one, instance, contract, report);
        if is_mapped_before(mapping, index) && names_a_port(one, contract) {
            let message = format!("`{}` is mapped twice", plain(&one.port));
            report.error(Code::Name, one.port.span(), message, "remove one of them");
        }
    }
    check_keys(mapping, instance, contract, report);
}

fn names_a_port(one: &Mapping, contract: &Contract) -> bool {
    ports(contract, one.reads).contains(&plain(&one.port))
}

/// Checks that the node has the port of a mapping.
fn check_port(one: &Mapping, instance: &Instance, contract: &Contract, report: &mut Report) {
    if names_a_port(one, contract) {
        return;
    }
    let (port, ports) = (plain(&one.port), ports(contract, one.reads));
    let verb = if one.reads { "reads" } else { "writes" };
    let message = format!("`{}` {verb} no `{port}`", instance.shown);
    let (other, arrow) = if one.reads {
        ("writes", "->")
    } else {
        ("reads", "<-")
    };
    let help = if self::ports(contract, !one.reads).contains(&port) {
        format!("it {other} `{port}`: write `{port} {arrow} {}`", one.key)
    } else if ports.contains(&plain(&one.key)) {
        let (first, arrow) = if one.reads {
            ("the parameter", "<-")
        } else {
            ("what the node writes", "->")
        };
        let add = if one.adds { "+" } else { "" };
        format!("{first} comes first: `{} {arrow} {add}{port}`", one.key)
    } else if self::ports(contract, !one.reads).contains(&plain(&one.key)) {
        format!("it {other} `{0}`: write `{0} {arrow} {port}`", one.key)
    } else if ports.is_empty() {
        format!("it {verb} nothing: remove this")
    } else {
        flow_spec::did_you_mean(&port, ports.iter().map(String::as_str)).unwrap_or_default()
    };
    report.error(Code::NamesNothing, one.port.span(), message, help);
}

/// Checks that no two values of the node are written to one key.
fn check_keys(mapping: &[Mapping], instance: &Instance, contract: &Contract, report: &mut Report) {
    let name = &instance.shown;
    let sets = contract
        .actions
        .iter()
        .map(|action| &action.writes[..])
        .chain([&[][..]]);
    let mut reported: Vec<String> = Vec::new();
    for set in sets {
        let mut keys: Vec<(String, &Ident)> = Vec::new();
        for port in contract.writes.iter().chain(set) {
            let key = plain(key_of(mapping, &port.name, false));
            if let Some((_, other)) = keys.iter().find(|(earlier, _)| *earlier == key) {
                let place = mapping
                    .iter()
                    .rev()
                    .find(|one| !one.reads && plain(&one.key) == key);
                if !reported.contains(&key) {
                    let message = format!(
                        "`{name}` writes both `{other}` and `{}` to `{key}`",
                        port.name
                    );
                    let span = place.map_or_else(|| instance.span, |one| one.key.span());
                    report.error(Code::MappingClash, span, message, "give each its own key");
                    reported.push(key.clone());
                }
            }
            keys.push((key, &port.name));
        }
    }
}

/// A value that may be missing may be read under any key, but a key that a mapping names is
/// expected to exist.
pub(in crate::flow) fn check_mapped_keys(
    flow: &FlowSyntax,
    instances: &Instances,
    nodes: &[Node],
    report: &mut Report,
) {
    let writes = nodes
        .iter()
        .flat_map(|node| &node.actions)
        .flat_map(|action| &action.writes);
    let mut keys: Vec<String> = writes.map(|write| write.key.clone()).collect();
    keys.extend(flow.inputs.iter().map(|input| plain(&input.name)));
    keys.extend(flow.mapped_keys());
    keys.push(ERROR_KEY.to_owned());
    for (_, instance) in instances.iter() {
        if let InstanceKind::Each { item, .. } = &instance.kind {
            keys.push(plain(item));
        }
    }
    for ((_, instance), node) in instances.iter().zip(nodes) {
        for one in mapping(flow, instance).iter().filter(|one| one.reads) {
            let key = plain(&one.key);
            let optional = node
                .reads
                .iter()
                .any(|read| read.key == key && read.optional);
            if !optional || keys.contains(&key) {
                continue;
            }
            let help = match flow_spec::closest(&key, keys.iter().map(String::as_str)) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!(
                    "map `{}` to a key that something writes, or remove this",
                    one.port
                ),
            };
            let message = format!(
                "nothing writes `{key}`, so `{}` would never have it",
                instance.shown
            );
            report.error(Code::NamesNothing, one.key.span(), message, help);
        }
    }
}

/// The names of the ports with which a node reads, or writes.
pub(in crate::flow) fn ports(contract: &Contract, reads: bool) -> Vec<String> {
    if reads {
        return contract
            .reads
            .iter()
            .map(|read| plain(&read.name))
            .collect();
    }
    let of_actions = contract.actions.iter().flat_map(|action| &action.writes);
    let writes = contract.writes.iter().chain(of_actions);
    writes.map(|write| plain(&write.name)).collect()
}

/// Returns true if an earlier line of the mapping has the same port.
pub(in crate::flow) fn is_mapped_before(mapping: &[Mapping], index: usize) -> bool {
    let one = &mapping[index];
    mapping[..index]
        .iter()
        .any(|earlier| earlier.reads == one.reads && plain(&earlier.port) == plain(&one.port))
}
