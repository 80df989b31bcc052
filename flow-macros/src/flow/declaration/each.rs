//! Loops over items: checks that a loop and its body fit.

use std::collections::HashMap;

use flow_spec::{Code, ERROR_ACTION, Node};
use syn::{Ident, LitStr};

use crate::contract::{Contract, Kind, ReadPort};
use crate::flow::instances::{Instance, InstanceKind, Instances};
use crate::flow::mapped::{added_by_body, added_keys, adds, key_of, mapping};
use crate::flow::syntax::{EdgeSyntax, FlowSyntax, NodeSyntax};
use crate::names::plain;
use crate::report::Report;
use crate::text::type_text;

use super::settings::check_policy;

/// Checks that a loop over items and its body fit: the body reads the item, and it can fail if its
/// errors are collected.
pub(in crate::flow) fn check_body(
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
            None if contract.kind == Kind::Human => {
                format!("show it in the prompt of `{name}`, as `{{{item}}}`")
            }
            None if contract.kind == Kind::Signal => {
                format!("wait for `{name}` in a flow that reads `{item}`, and loop over that flow")
            }
            None => format!("give `{name}` a parameter `{item}`"),
        };
        let message = format!("`{name}` does not read the item `{item}`");
        report.error(Code::NamesNothing, item.span(), message, help);
    }
    let Some(declared) = each.declared(flow) else {
        return;
    };
    // The settings of a loop are those of a body that has no declaration of its own.
    if !body.hidden {
        check_policy(&declared.settings, &name, contract, report);
    }
    check_addition(flow, declared, (body, contract), report);
    let can_fail = contract.fallible() || each.times_out(flow);
    if let (Some(span), false) = (declared.settings.collect_errors, can_fail) {
        let message = format!("`{name}` cannot fail, so there are no errors to collect");
        report.error(
            Code::CannotFail,
            span,
            message,
            "let it return a `Result`, or remove `collect_errors`",
        );
    }
}

/// Checks that a body adds all that it returns, and that the loop does not collect errors.
fn check_addition(
    flow: &FlowSyntax,
    each: &NodeSyntax,
    (body, contract): (&Instance, &Contract),
    report: &mut Report,
) {
    let (name, mapping) = (last_name(body), mapping(flow, body));
    let Some(added) = contract.all_writes().find(|port| adds(mapping, port)) else {
        return;
    };
    let key = key_of(mapping, &added.name, false);
    if added_by_body(flow, body, contract).is_none() {
        let message = format!(
            "`{name}` adds to `{key}`, and that is not all that it returns: a loop does not take it apart"
        );
        let help = "let the body of a loop return one value, which is added or collected";
        report.error(Code::Addition, body.span, message, help);
        return;
    }
    if let Some(span) = each.settings.collect_errors {
        let message = format!(
            "`collect_errors` needs the results of the items, and `{name}` adds them to `{key}`"
        );
        let help = "remove `collect_errors`, or let the loop collect its results and another node add them";
        report.error(Code::Addition, span, message, help);
    }
}

/// Reports the edge for the error of a loop that keeps errors as values.
pub(in crate::flow) fn check_error_edge<'a>(
    each: &Instance,
    flow: &FlowSyntax,
    mut edges: impl Iterator<Item = &'a EdgeSyntax>,
    report: &mut Report,
) {
    let is_error = |action: &&LitStr| action.value() == ERROR_ACTION;
    let action = edges.find_map(|edge| edge.action.as_ref().filter(is_error));
    if let Some(action) = action.filter(|_| each.collects_errors(flow)) {
        let name = &each.shown;
        let message = format!("`{name}` collects its errors, so it never takes \"{ERROR_ACTION}\"");
        let help = "remove this edge, or `collect_errors`";
        report.error(Code::CannotFail, action.span(), message, help);
    }
}

/// Types without items, in their usual spelling.
const WITHOUT_ITEMS: [&str; 17] = [
    "String", "bool", "char", "u8", "u16", "u32", "u64", "u128", "usize", "i8", "i16", "i32",
    "i64", "i128", "isize", "f32", "f64",
];

/// Checks that loops go over collections, as far as the spelling of a type shows. For other types,
/// rustc reports that they cannot be iterated over.
pub(in crate::flow) fn check_collections(
    flow: &FlowSyntax,
    instances: &Instances,
    nodes: &[Node],
    report: &mut Report,
) {
    let inputs = flow.inputs.iter();
    let inputs = inputs.map(|input| (plain(&input.name), type_text(&input.ty)));
    let actions = nodes.iter().flat_map(|node| &node.actions);
    let writes = actions.flat_map(|action| &action.writes);
    let writes = writes.map(|write| (write.key.clone(), write.rust_type.clone()));
    let types: HashMap<String, String> = writes.chain(inputs).collect();
    for (_, instance) in instances.iter() {
        let InstanceKind::Each { over, .. } = &instance.kind else {
            continue;
        };
        let Some(known) = types.get(&plain(over)) else {
            continue;
        };
        let known = known.rsplit("::").next().unwrap_or(known);
        if !WITHOUT_ITEMS.contains(&known) {
            continue;
        }
        let help = match known {
            "String" => format!(
                "let a node make a `Vec` of it, such as `fn lines({over}: &str) -> Vec<String>`, and loop over that"
            ),
            _ => "loop over a `Vec` or another collection".to_owned(),
        };
        let message = format!("`{over}` is a `{known}`, which has no items to loop over");
        report.error(Code::Malformed, over.span(), message, help);
    }
}

/// Reports spread loops in branches, whose items run in place.
pub(in crate::flow) fn check_spread(flow: &FlowSyntax, instances: &Instances, report: &mut Report) {
    let owners = instances.iter();
    let inner = owners.flat_map(|(_, owner)| owner.kind.inner().map(move |node| (owner, node)));
    for (owner, node) in inner {
        let each = &instances[node];
        let declared = each.declared(flow);
        let spread = declared.and_then(|declared| declared.settings.spread);
        if let (Some((span, _)), InstanceKind::Each { .. }) = (spread, &each.kind) {
            let of = match owner.kind {
                InstanceKind::Race(_) => "race",
                _ => "fork",
            };
            let message = format!(
                "`{}` is in a branch of a {of}, where the items of a loop are not spread",
                each.shown
            );
            let help = format!("remove `spread`, or put the loop before or after the {of}");
            report.error(Code::NamesNothing, span, message, help);
        }
    }
}

/// Refuses separate writes of the body of a loop over items.
pub(super) fn check_collected(
    flow: &FlowSyntax,
    instance: &Instance,
    contract: &Contract,
    report: &mut Report,
) {
    if !instance.hidden || !added_keys(flow, instance, contract).is_empty() {
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

/// Returns true if one of its ports reads the item.
pub(in crate::flow) fn reads_item(
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
