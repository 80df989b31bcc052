//! Methods and settings that a node with phases cannot have.

use flow_spec::Code;
use proc_macro2::Ident;
use syn::spanned::Spanned as _;
use syn::{FnArg, GenericArgument, PathArguments, ReceiverKind, ReturnType, Signature, Type};

use crate::configured::Part;
use crate::documentation::refuse_unknown;
use crate::node::attribute::{NodeAttribute, refuse_timeout};
use crate::node::parameter::{refuse_attributes, used_name};
use crate::report::Report;
use crate::text::type_text;

use super::near;
use super::node::Node;
use super::phase::{pattern_name, result_name};
use super::syntax::Steps;

/// The part that can have a condition in place of a method.
const WHOLE: &str = "the whole `impl` block";

/// Reports them, except those that depend on the return types of the methods.
pub(super) fn check(steps: &Steps, attribute: &NodeAttribute, report: &mut Report) {
    let phases = ["prep", "exec_fallback", "post", "exec"];
    for method in phases.into_iter().filter_map(|name| steps.method(name)) {
        refuse_unusual(method, report);
        refuse_attributes(method, WHOLE, report);
    }
    refuse_unknown(&steps.attributes, report);
    for method in &steps.methods {
        let name = &method.sig.ident;
        if phases.iter().any(|phase| name == phase) {
            let part = Part {
                attributes: &method.attributes,
                what: format!("`{name}`"),
                whole: WHOLE,
                read: &[],
            };
            part.refuse_conditions(report);
        } else if let Some(phase) = near::phase(method, steps) {
            let message = format!("a node has no method `{name}`, so a flow never calls it");
            let help = format!("did you mean `{phase}`?");
            report.error(Code::NamesNothing, name.span(), message, help);
        }
    }
    if let Some(post) = steps.method("post") {
        let exec = steps.method("exec");
        refuse_near_results(post, exec.and_then(value_type), report);
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

/// Reports a parameter of `post` whose name is almost that of another method's result, if no value
/// has that name. `result` is such a name if its type is that of `exec`'s result.
fn refuse_near_results(method: &Signature, of_exec: Option<&Type>, report: &mut Report) {
    let typed = || {
        method.inputs.iter().filter_map(|input| match input {
            FnArg::Typed(typed) => Some((pattern_name(&typed.pat)?, &*typed.ty)),
            FnArg::Receiver(_) => None,
        })
    };
    let is_result = |name: &str, ty: &Type| {
        let ty = match ty {
            Type::Reference(reference) => &*reference.elem,
            owned => owned,
        };
        let is_of_exec = of_exec.is_some_and(|of_exec| type_text(of_exec) == type_text(ty));
        ["result", "res"].contains(&name) && is_of_exec
    };
    for (name, ty) in typed() {
        let text = used_name(&name);
        let results = ["exec_res", "prep_res"];
        let near = results.into_iter().find(|result| text.starts_with(result));
        let near = near.or_else(|| flow_spec::closest(&text, results));
        let near = near.or_else(|| is_result(&text, ty).then_some("exec_res"));
        let Some(near) = near.filter(|near| typed().all(|(name, _)| used_name(&name) != *near))
        else {
            continue;
        };
        let phase = near.trim_end_matches("_res");
        let message = format!("what `{phase}` returned is called `{near}`, not `{text}`");
        let help = format!("rename the parameter to `{near}`");
        report.error(Code::NamesNothing, name.span(), message, help);
    }
}

/// The type of the value that a method returns, which is inside a `Result`.
fn value_type(method: &Signature) -> Option<&Type> {
    let ReturnType::Type(_, ty) = &method.output else {
        return None;
    };
    let Type::Path(path) = &**ty else {
        return Some(ty);
    };
    match path.path.segments.last() {
        Some(last) if last.ident == "Result" => match &last.arguments {
            PathArguments::AngleBracketed(arguments) => match arguments.args.first() {
                Some(GenericArgument::Type(value)) => Some(value),
                _ => None,
            },
            _ => None,
        },
        _ => Some(ty),
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
        let help = if self.never_awaits() {
            "let `exec` return a `Result`, or remove it"
        } else {
            "let `exec` return a `Result`, give the node a `timeout`, or remove it"
        };
        if let (Some((span, _)), true) = (self.attribute.settings.timeout, self.never_awaits()) {
            let help = "write `async fn exec` and await what takes long, or make the node a function with `blocking`";
            refuse_timeout(&format!("`exec` of `{name}`"), span, help, report);
        }
        self.attribute
            .refuse_if_without_error(name, &self.exec.returned, report);
        if self.exec_can_fail() {
            return;
        }
        if let Some((span, _)) = &self.attribute.settings.retry {
            let message = format!("`exec` of `{name}` cannot fail, so there is nothing to retry");
            report.error(Code::CannotFail, *span, message, help);
        }
        if let Some(fallback) = &self.fallback {
            let message = format!("`exec` of `{name}` cannot fail, so this is never called");
            report.error(Code::CannotFail, fallback.sig.ident.span(), message, help);
        }
    }
}
