//! The parts of a declaration besides the wiring: a value, a mapping, settings.

mod conditions;
mod each;
mod mapping;
mod settings;

use flow_spec::Code;
use quote::ToTokens as _;

use crate::contract::{Contract, Kind};
use crate::names::{is_type_name, path_text};
use crate::report::Report;

use super::instances::Instance;
use super::mapped;
use super::syntax::{FlowSyntax, NodeSource};

pub(super) use conditions::check_conditions;
pub(super) use each::{check_body, check_collections, check_error_edge, check_spread, reads_item};
pub(super) use mapping::{check_mapped_keys, is_mapped_before, ports};

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
        check_human(flow, instance, contract, report);
        mapping::check_mapping(mapped::mapping(flow, instance), instance, contract, report);
        each::check_collected(flow, instance, contract, report);
    }
    settings::check_settings(flow, instance, contract, report);
}

/// Checks the name of a node. The name alone decides if the node has a value, before its contract
/// is known.
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

/// Checks the word `human`. Before the contract is known, only this word marks a declared node
/// without a value.
fn check_human(flow: &FlowSyntax, instance: &Instance, contract: &Contract, report: &mut Report) {
    let Some(declaration) = instance.declared(flow).filter(|_| !instance.hidden) else {
        return;
    };
    let NodeSource::Path {
        human, path, value, ..
    } = &declaration.source
    else {
        return;
    };
    let (name, text) = (&declaration.name, path_text(path));
    let first = value
        .as_ref()
        .and_then(|value| value.to_token_stream().into_iter().next());
    let last = path.segments.last().map(|last| last.ident.span());
    match (human, contract.kind == Kind::Human) {
        (Some(word), false) => {
            let message = format!("`{text}` is not a human node");
            let help =
                format!("remove `human`, or put `#[node(human = \"…\")]` on the type `{text}`");
            report.error(Code::Human, *word, message, help);
        }
        (None, true) => {
            let message = format!(
                "`{text}` is a human node: its value comes from a person, not from the flow"
            );
            let help = format!("write `node {name}: human {text}`");
            let help = match value {
                Some(_) => format!("{help}, without `= …`"),
                None => help,
            };
            report.error(
                Code::Human,
                last.unwrap_or_else(|| name.span()),
                message,
                help,
            );
        }
        (Some(_), true) => {
            if let Some(first) = first {
                let message =
                    format!("the value of `{text}` comes from a person, not from the flow");
                report.error(Code::Human, first.span(), message, "remove `= …`");
            }
        }
        (None, false) => {}
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
