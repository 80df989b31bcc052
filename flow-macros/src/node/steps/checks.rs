//! Methods and settings that a node with phases cannot have.

use flow_spec::Code;
use proc_macro2::Ident;
use syn::spanned::Spanned as _;
use syn::{FnArg, ReceiverKind, ReturnType, Signature};

use crate::node::attribute::NodeAttribute;
use crate::report::Report;

use super::node::Node;
use super::phase::{pattern_name, result_name};
use super::syntax::Steps;

/// Reports them, except those that depend on what the methods return.
pub(super) fn check(steps: &Steps, attribute: &NodeAttribute, report: &mut Report) {
    let phases = ["prep", "exec_fallback", "post", "exec"];
    for method in phases.into_iter().filter_map(|name| steps.method(name)) {
        refuse_unusual(method, report);
    }
    if let Some(post) = steps.method("post") {
        let exec = steps.method("exec");
        let returns = exec.is_some_and(|exec| matches!(exec.output, ReturnType::Type(..)));
        refuse_near_results(post, returns, report);
    }
    if let (None, Some(post)) = (steps.method("prep"), steps.method("post")) {
        refuse_prep_res(post, report);
    }
    for (span, setting) in [
        (attribute.poll.as_ref().map(|poll| poll.span), "poll"),
        (attribute.blocking, "blocking"),
    ] {
        if let Some(span) = span {
            let message = format!("`{setting}` is a setting of a function");
            report.error(
                Code::NamesNothing,
                span,
                message,
                "make this node a function, or remove it",
            );
        }
    }
}

fn refuse_unusual(method: &Signature, report: &mut Report) {
    if let Some(FnArg::Receiver(receiver)) = method.inputs.first() {
        let shared = matches!(&receiver.kind, ReceiverKind::Reference(_, _, mutability) if mutability.is_none());
        if !shared {
            let message = format!("`{}` has to take `&self`", method.ident);
            let help = "a node keeps nothing from one visit to the next: return what changes, and the flow keeps it";
            report.error(Code::Malformed, receiver.span(), message, help);
        }
    }
    if let Some(parameter) = method
        .generics
        .params
        .iter()
        .find(|parameter| !matches!(parameter, syn::GenericParam::Lifetime(_)))
    {
        let message = format!("`{}` cannot be generic by itself", method.ident);
        report.error(
            Code::Malformed,
            parameter.span(),
            message,
            "make the type generic instead",
        );
    }
}

/// Reports a parameter of `post` whose name is almost that of a result of another method, if nothing has
/// that name. If `exec` returns something, `result` is such a name.
fn refuse_near_results(method: &Signature, exec_returns: bool, report: &mut Report) {
    let names = || {
        method.inputs.iter().filter_map(|input| match input {
            FnArg::Typed(typed) => pattern_name(&typed.pat),
            FnArg::Receiver(_) => None,
        })
    };
    for name in names() {
        let text = name.to_string();
        let results = ["exec_res", "prep_res"];
        let near = results.into_iter().find(|result| text.starts_with(result));
        let near = near.or_else(|| flow_spec::closest(&text, results));
        let is_result = exec_returns && ["result", "res"].contains(&text.as_str());
        let near = near.or_else(|| is_result.then_some("exec_res"));
        let Some(near) = near.filter(|near| names().all(|name| name != near)) else {
            continue;
        };
        let phase = near.trim_end_matches("_res");
        let message = format!("what `{phase}` returned is called `{near}`, not `{text}`");
        let help = format!("rename the parameter to `{near}`");
        report.error(Code::NamesNothing, name.span(), message, help);
    }
}

fn refuse_prep_res(post: &Signature, report: &mut Report) {
    let prep_res = post.inputs.iter().find_map(|input| match input {
        FnArg::Typed(typed) if result_name(&typed.pat) == Some("prep_res") => Some(typed),
        _ => None,
    });
    if let Some(typed) = prep_res {
        let message = "there is no `prep`, and so no `prep_res`";
        let help = "add `fn prep(&self, …)`, or read the values themselves";
        report.error(Code::Malformed, typed.pat.span(), message, help);
    }
}

impl Node<'_> {
    pub(super) fn refuse_settings_without_failure(&self, name: &Ident, report: &mut Report) {
        const HELP: &str = "let `exec` return a `Result`, give the node a `timeout`, or remove it";
        self.attribute
            .refuse_if_without_error(name, &self.exec.returned, report);
        if self.exec_can_fail() {
            return;
        }
        if let Some((span, _)) = &self.attribute.settings.retry {
            let message = format!("`exec` of `{name}` cannot fail, so there is nothing to retry");
            report.error(Code::CannotFail, *span, message, HELP);
        }
        if let Some(fallback) = &self.fallback {
            let message = format!("`exec` of `{name}` cannot fail, so this is never called");
            report.error(Code::CannotFail, fallback.sig.ident.span(), message, HELP);
        }
    }
}
