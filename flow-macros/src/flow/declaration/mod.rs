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
use super::syntax::{External, FlowSyntax, NodeSource};

pub(super) use conditions::check_conditions;
pub(super) use each::{check_body, check_collections, check_error_edge, check_spread, reads_item};
pub(super) use mapping::{check_mapped_keys, is_mapped_before, ports};
pub(super) use settings::check_former_names;

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
        check_external(flow, instance, contract, report);
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

/// Checks the words `human` and `signal`. Before the contract is known, only they mark a declared
/// node without a value.
fn check_external(
    flow: &FlowSyntax,
    instance: &Instance,
    contract: &Contract,
    report: &mut Report,
) {
    let Some(declaration) = instance.declared(flow).filter(|_| !instance.hidden) else {
        return;
    };
    let NodeSource::Path {
        external,
        path,
        value,
        ..
    } = &declaration.source
    else {
        return;
    };
    let (name, text) = (&declaration.name, path_text(path));
    let mut mistake = |span, message: String, help: String| {
        report.error(Code::Human, span, message, help);
    };
    let known = match contract.kind {
        Kind::Human => Some((External::Human, "a human node", "a person")),
        Kind::Signal => Some((External::Signal, "a signal", "outside")),
        Kind::Function | Kind::Type | Kind::Flow => None,
    };
    let Some((needed, what, source)) = known else {
        if let Some((word, span)) = external {
            let (word, what, setting) = match word {
                External::Human => ("human", "a human node", "human = \"…\""),
                External::Signal => ("signal", "a signal", "signal"),
            };
            mistake(
                *span,
                format!("`{text}` is not {what}"),
                format!("remove `{word}`, or put `#[node({setting})]` on the type `{text}`"),
            );
        }
        return;
    };
    let word = needed.word();
    match external {
        None => {
            let last = path.segments.last().map(|last| last.ident.span());
            let help = match value {
                Some(_) => format!("write `node {name}: {word} {text}`, without `= …`"),
                None => format!("write `node {name}: {word} {text}`"),
            };
            mistake(
                last.unwrap_or_else(|| name.span()),
                format!("`{text}` is {what}: its value comes from {source}, not from the flow"),
                help,
            );
        }
        Some((written, span)) if *written != needed => mistake(
            *span,
            format!("`{text}` is {what}"),
            format!("write `node {name}: {word} {text}`"),
        ),
        Some(_) => {
            let tokens = value.as_ref().map(|value| value.to_token_stream());
            if let Some(first) = tokens.and_then(|tokens| tokens.into_iter().next()) {
                mistake(
                    first.span(),
                    format!("the value of `{text}` comes from {source}, not from the flow"),
                    "remove `= …`".to_owned(),
                );
            }
        }
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
