//! `#[node]` on an `impl` block: `prep`, `exec`, `exec_fallback` and `post`.
//!
//! Only `exec` is retried, and after a `prep` it sees only the result of `prep`.

mod arguments;
mod body;
mod checks;
mod near;
mod node;
mod phase;
mod syntax;

use flow_spec::Code;
use proc_macro2::TokenStream;
use quote::quote;
use syn::spanned::Spanned as _;
use syn::{Ident, Signature, Visibility};

use crate::contract::Contract;
use crate::documentation::documentation;
use crate::editor::out_of_sight;
use crate::protocol::Named;
use crate::report::Report;
use crate::runtime::Runtime;
use crate::twice;

use super::attribute::NodeAttribute;
use super::step::Step;

use node::Node;
use syntax::Steps;

/// The items next to the block.
pub(super) fn expand(
    attribute: &NodeAttribute,
    item: TokenStream,
    report: &mut Report,
) -> syn::Result<TokenStream> {
    let steps: Steps = syn::parse2(item)?;
    let Some(name) = steps.name().cloned() else {
        let text = "a node is a named type";
        return Err(syn::Error::new(steps.self_ty.span(), text));
    };
    let Some(exec) = exec_of(&steps, &name, report) else {
        return Ok(TokenStream::new());
    };
    checks::check(&steps, attribute, report);
    let node = Node::new(&name, attribute, exec, &steps, report);
    let (body, awaits) = node.body(report);
    let contract = Contract {
        about: attribute.about(documentation(&steps.attributes)),
        ..node.contract()
    }
    .without_parameters(&steps.generics);
    let vis: Visibility = syn::parse_quote!(pub);
    let self_ty = &steps.self_ty;
    let lifetimes = node.lifetimes();
    // If a method names a lifetime, its future may capture lifetimes that we cannot name.
    let awaits = awaits.filter(|_| lifetimes.params.is_empty());
    let step = Step {
        name: &name,
        self_ty: quote!(#self_ty),
        generics: Some(&steps.generics),
        lifetimes: Some(&lifetimes),
        actions: attribute.actions.as_ref(),
        is_type: true,
        deprecated: attribute.deprecated,
        settings: &attribute.settings,
        runtime: &attribute.runtime,
        reads: node.reads.iter().collect(),
        outcome_span: node.last().returned.span,
        error_span: node.exec.returned.error_span,
        outcome: &node.outcome,
        visit: contract.attempts.has_visit(),
        body,
        awaits,
        attempt: None,
        error: node.exec.returned.error.as_ref(),
        errors: node.errors().collect(),
    }
    .expand();
    let step = out_of_sight(step);
    let named = Named {
        name: &name,
        vis: &vis,
        item: None,
        items: step,
        runtime: &attribute.runtime,
    };
    Ok(super::contract::contract(&named, attribute, &contract))
}

/// The method that does the work. `None` if there is none, or if the block implements a trait.
fn exec_of<'a>(steps: &'a Steps, name: &Ident, report: &mut Report) -> Option<&'a Signature> {
    if let Some(of_trait) = &steps.of_trait {
        let message = format!("a node is an `impl` block of `{name}` itself, not of a trait");
        let help = format!(
            "put `#[node]` on `impl {name} {{ … }}`; its `exec` can call the trait's methods"
        );
        report.error(Code::Malformed, of_trait.span(), message, help);
        return None;
    }
    let exec = steps.method("exec");
    if exec.is_none() {
        let message = format!("the node `{name}` has no `exec`");
        let (span, help) = match meant_as_exec(steps) {
            Some(method) => {
                let method = &method.ident;
                let help = format!("name the method that does the work `exec`, and not `{method}`");
                (method.span(), help)
            }
            None => {
                let help = "add `fn exec(&self, …)`: it does the work, and `prep`, `exec_fallback` and `post` go with it";
                (name.span(), help.to_owned())
            }
        };
        report.error(Code::Malformed, span, message, help);
    }
    exec
}

/// Names of the method that does the work in other libraries.
const WORK: [&str; 8] = [
    "run",
    "call",
    "execute",
    "process",
    "handle",
    "invoke",
    "perform",
    "exec_async",
];

/// The method that was probably meant as `exec`: by its name, or because there is no other.
fn meant_as_exec(steps: &Steps) -> Option<&Signature> {
    let of_node = |method: &&Signature| {
        let phases = ["prep", "exec_fallback", "post"];
        method.receiver().is_some() && phases.iter().all(|phase| method.ident != phase)
    };
    let methods = steps.methods.iter().map(|method| &method.sig);
    let methods: Vec<&Signature> = methods.filter(of_node).collect();
    let near = |method: &&&Signature| {
        let name = method.ident.to_string();
        WORK.contains(&name.as_str()) || flow_spec::closest(&name, ["exec"]).is_some()
    };
    match methods[..] {
        [only] => Some(only),
        _ => methods.iter().find(near).copied(),
    }
}

/// The items next to a block with mistakes.
pub(super) fn stub(item: TokenStream, runtime: &Runtime) -> syn::Result<TokenStream> {
    let steps: Steps = syn::parse2(item)?;
    let (generics, self_ty) = (&steps.generics, &steps.self_ty);
    let vis: Visibility = syn::parse_quote!(pub);
    let stub = |name| {
        let contract = Contract::broken();
        super::contract::stub(
            name,
            &vis,
            None,
            generics,
            &quote!(#self_ty),
            contract,
            runtime,
        )
    };
    Ok(steps.name().map(stub).unwrap_or_default())
}

/// The block with the items next to it, unless its type has another `#[node]` block.
pub(super) fn once(items: TokenStream, block: TokenStream) -> TokenStream {
    let steps: syn::Result<Steps> = syn::parse2(block);
    match steps.as_ref().map(Steps::name) {
        Ok(Some(name)) => twice::once(name, "node", &items),
        _ => items,
    }
}
