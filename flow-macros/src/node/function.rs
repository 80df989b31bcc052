//! `#[node]` on a function.

use flow_spec::Code;
use proc_macro2::{TokenStream, TokenTree};
use quote::quote;
use syn::parse::{Parse, ParseStream};
use syn::spanned::Spanned as _;
use syn::{Attribute, FnArg, GenericParam, Signature, Visibility};

use crate::contract::{Contract, Kind};
use crate::names::{is_type_name, plain};
use crate::protocol::runtime;
use crate::report::Report;

use super::attribute::NodeAttribute;
use super::outcome::Returned;
use super::parameter::{ParameterKind, parameters};
use super::step::{Attempted, Step, argument};

/// A function as far as we read it: its body is none of our business.
struct Function {
    vis: Visibility,
    sig: Signature,
}

impl Parse for Function {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        input.call(Attribute::parse_outer)?;
        let function = Function {
            vis: input.parse()?,
            sig: input.parse()?,
        };
        while !input.is_empty() {
            input.parse::<TokenTree>()?;
        }
        Ok(function)
    }
}

/// What comes beside the function.
pub(super) fn expand(
    attribute: &NodeAttribute,
    item: TokenStream,
    report: &mut Report,
) -> syn::Result<TokenStream> {
    let Function { vis, sig } = syn::parse2(item).map_err(|error| {
        let text = "`#[node]` belongs on a function, on an `impl` block with `exec`, or on a type with `human`";
        syn::Error::new(error.span(), text)
    })?;
    refuse_unusual(&sig, report);
    let name = &sig.ident;
    let parameters = parameters(sig.inputs.iter(), report);
    let returned = Returned::new(&sig.output, name.span(), report);
    let outcome = returned.outcome(&plain(name), attribute, report);

    let settings = &attribute.settings;
    let can_fail = returned.fallible || settings.timeout.is_some();
    if let (Some((span, _)), false) = (&settings.retry, can_fail) {
        let message = format!("`{name}` cannot fail, so there is nothing to retry");
        report.error(
            Code::CannotFail,
            *span,
            message,
            "return a `Result`, give it a `timeout`, or remove `retry`",
        );
    }
    let repeats = settings
        .retry
        .as_ref()
        .is_some_and(|(_, retry)| retry.repeats());
    let takes = parameters.iter().any(|parameter| parameter.takes());
    let context = parameters
        .iter()
        .any(|parameter| parameter.kind == ParameterKind::Context);
    let once = takes && !repeats;

    let arguments = parameters
        .iter()
        .map(|parameter| argument(parameter, repeats));
    let attempted = Attempted {
        call: quote!(#name(#(#arguments),*)),
        is_async: sig.asyncness.is_some(),
        fallible: returned.fallible,
        can_fail,
        context,
        once,
        give_up: None,
    };
    let value = attempted.value();
    let visit = can_fail || context;
    let attempts = visit.then(|| {
        let mutable = (can_fail && !once).then(|| quote!(mut));
        quote!(let #mutable __attempts = __visit.attempts();)
    });
    let contract = Contract {
        kind: Kind::Function,
        visit,
        fallible: can_fail,
        attempts: can_fail,
        once: once && can_fail,
        reads: parameters
            .iter()
            .filter_map(|parameter| parameter.port())
            .collect(),
        writes: outcome.writes.clone(),
        actions: Vec::new(),
    };
    let generics = syn::Generics::default();
    let step = Step {
        name,
        self_ty: quote!(#name),
        generics: &generics,
        lifetimes: Some(&sig.generics),
        actions: attribute.actions.as_ref(),
        receiver: None,
        settings,
        reads: parameters
            .iter()
            .filter(|parameter| parameter.kind != ParameterKind::Context)
            .collect(),
        outcome,
        outcome_span: returned.span,
        visit,
        body: quote!(#attempts #value),
    }
    .expand();
    let contract = super::contract(name, &vis, attribute, &contract);
    // A flow takes it for a type, as its name says, and reports that: it is not to ask for a value as well.
    let default = is_type_name(name).then(|| {
        let rt = runtime();
        quote! {
            #[doc(hidden)]
            const _: () = {
                impl #rt::DefaultNode for #name {
                    fn default_node() -> Self { #name {} }
                }
            };
        }
    });
    Ok(quote! {
        #[doc(hidden)]
        #[allow(non_camel_case_types, missing_docs, dead_code, missing_debug_implementations)]
        #vis struct #name {}
        #step
        #default
        #contract
    })
}

/// Functions that a flow could not call.
fn refuse_unusual(sig: &Signature, report: &mut Report) {
    let name = &sig.ident;
    for parameter in &sig.generics.params {
        if !matches!(parameter, GenericParam::Lifetime(_)) {
            let message =
                format!("the node `{name}` cannot be generic: every key of a flow has one type");
            let help =
                "use the types that the flow has, or make it a generic type with `#[node] impl`";
            report.error(Code::Malformed, parameter.span(), message, help);
        }
    }
    if let Some(FnArg::Receiver(receiver)) = sig.inputs.first() {
        let help = "put `#[node]` on the `impl` block, and call the method `exec`";
        report.error(
            Code::Malformed,
            receiver.span(),
            "a method is not a node by itself",
            help,
        );
    }
    if let syn::Safety::Unsafe(token) = &sig.safety {
        let help = "wrap it in a safe function";
        report.error(
            Code::Malformed,
            token.span(),
            "a node cannot be an unsafe function",
            help,
        );
    }
}
