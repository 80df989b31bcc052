//! Reports settings that have no effect on a node.

use flow_spec::{Code, TIMEOUT_ACTION};

use crate::contract::{ActionPort, Attempts, Contract, Kind};
use crate::flow::instances::{Instance, InstanceKind, Instances};
use crate::flow::syntax::FlowSyntax;
use crate::names::plain;
use crate::report::Report;
use crate::settings::Settings;

pub(super) fn check_settings(
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
    if instance.path().is_some() {
        check_policy(settings, name, contract, report);
    }
    let mut nothing = |span, message: String, help: &str| {
        report.error(Code::NamesNothing, span, message, help);
    };
    let is_loop = matches!(instance.kind, InstanceKind::Each { .. });
    let is_fork = matches!(instance.kind, InstanceKind::Fork(_));
    if instance.path().is_none() && !is_loop {
        let inside = "give this setting to the nodes inside it";
        let deadline = match instance.kind {
            InstanceKind::Race(_) => "let a pause be one of its branches: `wait(5s) => \"late\"`",
            _ => inside,
        };
        let given = [
            (settings.retry.as_ref().map(|(span, _)| *span), inside),
            (settings.timeout.map(|(span, _)| span), deadline),
        ];
        for (span, help) in given {
            if let Some(span) = span {
                nothing(span, format!("`{name}` makes no attempts of its own"), help);
            }
        }
    }
    let takes = |allowed: bool| allowed || instance.hidden;
    if let (Some((span, _)), false) = (settings.concurrency, takes(is_loop || is_fork)) {
        let why = match instance.kind {
            InstanceKind::Race(_) => ": all branches of a race run at once",
            _ => ", which is a single step",
        };
        let message = format!("`concurrency` does nothing for `{name}`{why}");
        nothing(
            span,
            message,
            "it is a setting of a fork or of a loop over items",
        );
    }
    let of_loops = [
        ("spread", settings.spread.map(|(span, _)| span)),
        ("collect_errors", settings.collect_errors),
    ];
    for (setting, span) in of_loops {
        if let (Some(span), false) = (span, takes(is_loop)) {
            let message = format!("`{setting}` does nothing for `{name}`");
            nothing(span, message, "it is a setting of a loop over items");
        }
    }
}

/// Refuses former names that nodes without a name in the source have now. The analysis refuses all
/// others.
pub(in crate::flow) fn check_former_names(
    flow: &FlowSyntax,
    instances: &Instances,
    report: &mut Report,
) {
    for (id, instance) in instances.iter().filter(|(_, one)| !one.hidden) {
        let declared = instance.declared(flow);
        let Some((_, was)) = declared.and_then(|node| node.settings.was.as_ref()) else {
            continue;
        };
        let mut others = instances.iter().filter(|(other, _)| *other != id);
        let named =
            |other: &Instance| plain(&other.name) == was.value() && other.shown != was.value();
        if let Some((_, other)) = others.find(|(_, other)| named(other)) {
            let (name, was, span) = (&instance.shown, was.value(), was.span());
            let message = format!(
                "`{name}` cannot have been `{was}`, which is the name of `{}` in executions",
                other.shown
            );
            let help = format!("remove `was`, or name `{}` by a declaration", other.shown);
            report.error(Code::Name, span, message, help);
        }
    }
}

/// Checks `retry` and `timeout` that the flow gives to a node, or to a loop for each of its items.
pub(super) fn check_policy(
    settings: &Settings,
    name: &str,
    contract: &Contract,
    report: &mut Report,
) {
    let times_out = |action: &&ActionPort| action.name.value() == TIMEOUT_ACTION;
    if let (Some((span, _)), true, Some(action)) = (
        settings.timeout,
        contract.kind.is_external(),
        contract.actions.iter().find(times_out),
    ) {
        let when = match contract.kind {
            Kind::Signal => "no signal comes in time",
            _ => "nobody answers in time",
        };
        let message = format!(
            "the action \"{TIMEOUT_ACTION}\" is what a flow routes if {when}, and `{}` of `{name}` is it too",
            action.variant
        );
        let help = "name the variant otherwise, or remove `timeout`";
        report.error(Code::Name, span, message, help);
    }
    if let (Some((span, _)), true) = (settings.timeout, contract.never_awaits) {
        let message = format!("`{name}` never awaits, so a `timeout` cannot end it");
        let help = match contract.kind {
            Kind::Type => "make its `exec` an `async fn`, or the node a function with `blocking`",
            _ => "make it an `async fn`, or write `#[node(blocking)]` if it blocks",
        };
        report.error(Code::NamesNothing, span, message, help);
    }
    let Some((span, retry)) = &settings.retry else {
        return;
    };
    if contract.kind == Kind::Human {
        let message = format!("`{name}` is asked for once, so there is nothing to retry");
        let help = "remove `retry`; `timeout = \"24h\"` says how long there is to answer";
        report.error(Code::NamesNothing, *span, message, help);
    } else if contract.kind == Kind::Signal {
        let message = format!("`{name}` waits until a signal comes, so there is nothing to retry");
        let help = "remove `retry`; `timeout = \"24h\"` says how long it waits";
        report.error(Code::NamesNothing, *span, message, help);
    } else if !contract.attempts.takes_policy() && settings.timeout.is_none() {
        let message = format!("`{name}` cannot fail, so there is nothing to retry");
        let help = if contract.never_awaits {
            "let it return a `Result`, or remove `retry`"
        } else {
            "let it return a `Result`, give it a `timeout`, or remove `retry`"
        };
        report.error(Code::CannotFail, *span, message, help);
    } else if uses_up(contract) && retry.repeats() {
        let message = format!("`{name}` takes a value that its first attempt uses up");
        let settings = if contract.attempts.takes_policy() {
            "the `retry`"
        } else {
            "`retry` and `timeout`"
        };
        let help = format!(
            "read it by reference, or put {settings} on its `#[node]`, so that each attempt gets a clone"
        );
        report.error(Code::TakenTooEarly, *span, message, help);
    }
}

/// Returns true if the first attempt consumes the values that the node takes.
fn uses_up(contract: &Contract) -> bool {
    match contract.attempts {
        Attempts::Many => false,
        Attempts::One => true,
        Attempts::None | Attempts::Visit => contract.reads.iter().any(|port| port.mode.takes()),
    }
}
