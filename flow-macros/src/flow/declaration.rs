//! What a declaration says of a node beside the wiring: a value, a mapping, settings.

use flow_spec::{Code, ERROR_KEY, Node};
use quote::ToTokens as _;
use syn::Ident;

use crate::contract::{Contract, Kind, ReadPort};
use crate::names::{is_type_name, path_text, plain};
use crate::report::Report;
use crate::settings::Settings;

use super::instances::{Instance, InstanceKind, Instances};
use super::resolve::{key_of, mapping};
use super::syntax::{FlowSyntax, Mapping, NodeSource};

/// Checks the declaration of one node.
pub(super) fn check(
    flow: &FlowSyntax,
    instance: &Instance,
    contract: &Contract,
    report: &mut Report,
) {
    if instance.path().is_some() {
        check_name(instance, contract, report);
        check_value(flow, instance, contract, report);
        check_mapping(mapping(flow, instance), instance, contract, report);
        check_collected(flow, instance, report);
    }
    check_settings(flow, instance, contract, report);
}

/// Whether a loop over items fits what it runs: it reads the item, and can fail if its errors are collected.
pub(super) fn check_body(
    flow: &FlowSyntax,
    each: &Instance,
    (body, contract): (&Instance, &Contract),
    report: &mut Report,
) {
    let InstanceKind::Each { item, over, .. } = &each.kind else {
        return;
    };
    let name = last_name(body);
    if !reads_item(flow, item, body, contract) {
        let help = match contract.reads.first() {
            Some(ReadPort { name: port, .. }) => format!(
                "name the item as the parameter that takes it: `for {port} in {over}`, or map it: \
                 `{name} {{ {port} <- {item} }}`"
            ),
            None => format!("give `{name}` a parameter `{item}`"),
        };
        let message = format!("`{name}` does not read the item `{item}`");
        report.error(Code::NamesNothing, item.span(), message, help);
    }
    let collects = each
        .declared(flow)
        .and_then(|node| node.settings.collect_errors);
    let times_out = body
        .declared(flow)
        .is_some_and(|node| node.settings.timeout.is_some());
    if let (Some(span), false) = (collects, contract.fallible || times_out) {
        let message = format!("`{name}` cannot fail, so there are no errors to collect");
        report.error(
            Code::CannotFail,
            span,
            message,
            "let it return a `Result`, or remove `collect_errors`",
        );
    }
}

/// A value that may be missing may be read under any key, but one that a mapping names is meant to be there.
pub(super) fn check_mapped_keys(
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
    keys.push(ERROR_KEY.to_owned());
    for instance in &instances.list {
        if let InstanceKind::Each { item, .. } = &instance.kind {
            keys.push(plain(item));
        }
    }
    for (instance, node) in instances.list.iter().zip(nodes) {
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

/// Whether one of its ports reads the item.
pub(super) fn reads_item(
    flow: &FlowSyntax,
    item: &Ident,
    body: &Instance,
    contract: &Contract,
) -> bool {
    let mapping = mapping(flow, body);
    contract
        .reads
        .iter()
        .any(|port| plain(key_of(mapping, &port.name, true)) == plain(item))
}

fn last_name(instance: &Instance) -> String {
    let last = instance.path().and_then(|path| path.segments.last());
    last.map_or_else(|| instance.shown.clone(), |last| last.ident.to_string())
}

/// Whether a node has a value is known by its name alone, before its contract is.
fn check_name(instance: &Instance, contract: &Contract, report: &mut Report) {
    let is_function = contract.kind == Kind::Function;
    let Some(last) = instance.path().and_then(|path| path.segments.last()) else {
        return;
    };
    if is_function == is_type_name(&last.ident) {
        let (what, letter) = if is_function {
            ("function", "small")
        } else {
            ("type", "capital")
        };
        let message = format!("`{}` is a {what}, and does not look like one", last.ident);
        let help = format!(
            "a flow tells functions from types by their names: start this one with a {letter} letter"
        );
        report.error(Code::Name, last.ident.span(), message, help);
    }
}

fn check_value(flow: &FlowSyntax, instance: &Instance, contract: &Contract, report: &mut Report) {
    let Some(declaration) = instance.declared(flow) else {
        return;
    };
    if let (
        NodeSource::Path {
            value: Some(value),
            path,
            ..
        },
        Kind::Function,
    ) = (&declaration.source, contract.kind)
    {
        let message = format!("`{}` is a function and has no value", path_text(path));
        let first = value.to_token_stream().into_iter().next();
        let span = first.map_or_else(|| declaration.name.span(), |token| token.span());
        report.error(Code::NamesNothing, span, message, "remove `= …`");
    }
}

/// What a loop over items runs writes nothing by itself.
fn check_collected(flow: &FlowSyntax, instance: &Instance, report: &mut Report) {
    if !instance.hidden {
        return;
    }
    if let Some(one) = mapping(flow, instance).iter().find(|one| !one.reads) {
        let message = format!(
            "what `{}` returns is collected, and writes no key of its own",
            instance.shown
        );
        report.error(
            Code::NamesNothing,
            one.port.span(),
            message,
            "remove this: the results are under the loop's name",
        );
    }
}

fn check_settings(
    flow: &FlowSyntax,
    instance: &Instance,
    contract: &Contract,
    report: &mut Report,
) {
    let Some(declaration) = instance.declared(flow) else {
        return;
    };
    let settings = &declaration.settings;
    let name = &instance.shown;
    let runs_hidden = match &declaration.source {
        NodeSource::Each { path, .. } => {
            let mut others = flow
                .nodes
                .iter()
                .filter(|node| node.name != declaration.name);
            !others.any(|node| path.is_ident(&node.name))
        }
        _ => false,
    };
    if instance.path().is_some() {
        check_policy(settings, name, contract, report);
    } else if !runs_hidden {
        let given = [
            settings.retry.as_ref().map(|(span, _)| *span),
            settings.timeout.map(|(span, _)| span),
        ];
        for span in given.into_iter().flatten() {
            let message = format!("`{name}` makes no attempts of its own");
            report.error(
                Code::NamesNothing,
                span,
                message,
                "give this setting to the nodes inside it",
            );
        }
    }
    let loops = matches!(instance.kind, InstanceKind::Each { .. });
    let forks = matches!(instance.kind, InstanceKind::Fork(_));
    if let Some((span, _)) = settings
        .concurrency
        .filter(|_| !loops && !forks && !instance.hidden)
    {
        let message = format!("`concurrency` does nothing for `{name}`, which is a single step");
        report.error(
            Code::NamesNothing,
            span,
            message,
            "it is a setting of a fork or of a loop over items",
        );
    }
    if let Some(span) = settings
        .collect_errors
        .filter(|_| !loops && !instance.hidden)
    {
        let message = format!("`collect_errors` does nothing for `{name}`");
        report.error(
            Code::NamesNothing,
            span,
            message,
            "it is a setting of a loop over items",
        );
    }
}

/// `retry` and `timeout`, given by the flow.
fn check_policy(settings: &Settings, name: &str, contract: &Contract, report: &mut Report) {
    let Some((span, retry)) = &settings.retry else {
        return;
    };
    if !contract.attempts {
        let message = format!("`{name}` cannot fail, so there is nothing to retry");
        let help =
            "let it return a `Result`, give it a `timeout` in its `#[node]`, or remove `retry`";
        report.error(Code::CannotFail, *span, message, help);
    } else if contract.once && retry.repeats() {
        let message = format!("`{name}` takes a value that its first attempt uses up");
        let help = "read it by reference, or put the `retry` on its `#[node]`, so that each attempt gets a clone";
        report.error(Code::TakenTooEarly, *span, message, help);
    }
}

fn check_mapping(
    mapping: &[Mapping],
    instance: &Instance,
    contract: &Contract,
    report: &mut Report,
) {
    let name = &instance.shown;
    for (index, one) in mapping.iter().enumerate() {
        let port = plain(&one.port);
        let ports = ports(contract, one.reads);
        let verb = if one.reads { "reads" } else { "writes" };
        if !ports.contains(&port) {
            let message = format!("`{name}` {verb} no `{port}`");
            let (other, arrow) = match one.reads {
                true => ("writes", "->"),
                false => ("reads", "<-"),
            };
            let help = match ports.is_empty() {
                _ if self::ports(contract, !one.reads).contains(&port) => {
                    format!("it {other} `{port}`: write `{port} {arrow} {}`", one.key)
                }
                true => format!("it {verb} nothing: remove this"),
                false => flow_spec::did_you_mean(&port, ports.iter().map(String::as_str))
                    .unwrap_or_default()
                    .replace('"', "`"),
            };
            report.error(Code::NamesNothing, one.port.span(), message, help);
        } else if is_mapped_before(mapping, index) {
            let message = format!("`{port}` is mapped twice");
            report.error(Code::Name, one.port.span(), message, "remove one of them");
        }
    }
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

/// The names of what a node reads, or writes.
pub(super) fn ports(contract: &Contract, reads: bool) -> Vec<String> {
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

/// Whether the mapping speaks of the same port before.
pub(super) fn is_mapped_before(mapping: &[Mapping], index: usize) -> bool {
    let one = &mapping[index];
    mapping[..index]
        .iter()
        .any(|earlier| earlier.reads == one.reads && plain(&earlier.port) == plain(&one.port))
}
