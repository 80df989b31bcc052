//! Loops over items: whether a loop fits what it runs.

use flow_spec::Code;
use syn::Ident;

use crate::contract::{Contract, Kind, ReadPort};
use crate::flow::instances::{Instance, InstanceKind};
use crate::flow::mapped::{key_of, mapping};
use crate::flow::syntax::FlowSyntax;
use crate::names::plain;
use crate::report::Report;

/// Whether a loop over items fits what it runs: it reads the item, and can fail if its errors are
/// collected.
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
            None => format!("give `{name}` a parameter `{item}`"),
        };
        let message = format!("`{name}` does not read the item `{item}`");
        report.error(Code::NamesNothing, item.span(), message, help);
    }
    let collects = each
        .declared(flow)
        .and_then(|node| node.settings.collect_errors);
    if let (Some(span), false) = (collects, contract.fallible() || body.times_out(flow)) {
        let message = format!("`{name}` cannot fail, so there are no errors to collect");
        report.error(
            Code::CannotFail,
            span,
            message,
            "let it return a `Result`, or remove `collect_errors`",
        );
    }
}

/// What a loop over items runs writes nothing by itself.
pub(super) fn check_collected(flow: &FlowSyntax, instance: &Instance, report: &mut Report) {
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

/// Whether one of its ports reads the item.
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
