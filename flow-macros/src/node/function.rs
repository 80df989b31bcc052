//! `#[node]` on a function.

use flow_spec::Code;
use proc_macro2::{TokenStream, TokenTree};
use quote::{quote, quote_spanned};
use syn::parse::{Parse, ParseStream};
use syn::spanned::Spanned as _;
use syn::{Attribute, FnArg, GenericParam, Ident, Signature, Visibility};

use crate::contract::{Contract, Mode, documentation};
use crate::names::{here, is_type_name, plain};
use crate::report::Report;
use crate::runtime::runtime;
use crate::settings::duration_tokens;

use super::attribute::{NodeAttribute, Poll};
use super::outcome::Returned;
use super::parameter::{Parameter, ParameterKind, local, parameters};
use super::step::{Attempted, Step, argument};

/// A function as far as we read it: its body is none of our business.
struct Function {
    description: Option<String>,
    vis: Visibility,
    sig: Signature,
}

impl Parse for Function {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let attributes = input.call(Attribute::parse_outer)?;
        let function = Function {
            description: documentation(&attributes),
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
    let Function {
        description,
        vis,
        sig,
    } = syn::parse2(item).map_err(|error| {
        let text = "`#[node]` belongs on a function, on an `impl` block with `exec`, or on a type with `human`";
        syn::Error::new(error.span(), text)
    })?;
    refuse_unusual(&sig, report);
    let name = &sig.ident;
    let parameters = parameters(sig.inputs.iter(), report);
    let returned = Returned::new(&sig.output, name.span(), report);
    let answer = match &attribute.poll {
        Some(_) => returned.answer(report),
        None => returned.clone(),
    };
    let outcome = answer.outcome(&plain(name), attribute, report);

    let settings = &attribute.settings;
    let can_fail = returned.fallible || settings.timeout.is_some();
    if let (Some((span, _)), false) = (&settings.retry, can_fail) {
        let message = format!("`{name}` cannot fail, so there is nothing to retry");
        let help = "return a `Result`, give it a `timeout`, or remove `retry`";
        report.error(Code::CannotFail, *span, message, help);
    }
    let repeats = settings.repeats() || attribute.poll.is_some();
    let takes = parameters.iter().any(|parameter| parameter.takes());
    let context = parameters
        .iter()
        .any(|parameter| parameter.kind == ParameterKind::Context);
    let once = takes && !repeats;

    let blocking = attribute.blocking.is_some();
    if let (Some(span), Some(_)) = (attribute.blocking, sig.asyncness) {
        let help = "remove `async`, or `blocking`: an async function does not block";
        report.error(Code::Malformed, span, format!("`{name}` is async"), help);
    }
    let single = returned.fallible
        && sig.asyncness.is_some()
        && settings.retry.is_none()
        && settings.timeout.is_none()
        && attribute.poll.is_none()
        && !context;
    let arguments = parameters
        .iter()
        .map(|parameter| argument(parameter, repeats));
    let attempted = Attempted {
        call: match (blocking, single) {
            (true, _) => blocking_call(name, &parameters, repeats),
            (false, true) => quote!(Self::__attempt(#(#arguments),*)),
            (false, false) => quote!(#name(#(#arguments),*)),
        },
        is_async: sig.asyncness.is_some() || blocking,
        fallible: returned.fallible,
        can_fail,
        context,
        once,
        returned: returned.span,
        give_up: None,
    };
    let value = attempted.value();
    let awaits = attempted
        .awaited_only()
        .filter(|_| attribute.poll.is_none() && !blocking);
    let attempts = (can_fail || context).then(|| {
        let mutable = (can_fail && !once).then(|| quote!(mut));
        quote!(let #mutable __attempts = __visit.attempts();)
    });
    let body = match &attribute.poll {
        None => quote!(#attempts #value),
        Some(poll) => polled(poll, attempts.as_ref(), &value),
    };
    let gives_up = attribute
        .poll
        .as_ref()
        .is_some_and(|poll| poll.timeout.is_some());
    let visit = can_fail || context || attribute.poll.is_some();
    let contract = Contract {
        visit,
        fallible: can_fail || gives_up,
        attempts: can_fail,
        poll: gives_up,
        once: once && can_fail,
        single,
        reads: parameters
            .iter()
            .filter_map(|parameter| parameter.port())
            .collect(),
        writes: outcome.writes.clone(),
        about: attribute.about(description),
        ..Contract::empty()
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
        outcome_span: answer.span,
        visit,
        body,
        awaits,
        attempt: single.then(|| {
            let arguments = parameters.iter().map(|parameter| local(&parameter.name));
            quote!(#name(#(#arguments),*))
        }),
    }
    .expand();
    let contract = super::contract::contract(name, &vis, attribute, &contract);
    // A flow takes it for a type, as its name says, and reports that: it is not to ask for a value
    // as well.
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
        #[allow(non_camel_case_types, reason = "named as the function is")]
        #vis struct #name {}
        #step
        #default
        #contract
    })
}

/// What comes beside a function with mistakes.
pub(super) fn stub(item: TokenStream) -> syn::Result<TokenStream> {
    let Function { vis, sig, .. } = syn::parse2(item)?;
    if matches!(sig.inputs.first(), Some(FnArg::Receiver(_))) {
        return Ok(TokenStream::new());
    }
    let name = &sig.ident;
    let stub = super::contract::stub(name, &vis, &syn::Generics::default(), &quote!(#name));
    Ok(quote! {
        #[doc(hidden)]
        #[allow(non_camel_case_types, reason = "named as the function is")]
        #vis struct #name {}
        #stub
    })
}

/// Asks again and again, until there is an answer or no time left.
fn polled(poll: &Poll, attempts: Option<&TokenStream>, value: &TokenStream) -> TokenStream {
    let every = duration_tokens(poll.every);
    let timeout = match poll.timeout.map(duration_tokens) {
        Some(timeout) => quote!(::core::option::Option::Some(#timeout)),
        None => quote!(::core::option::Option::None),
    };
    quote! {
        let __poll = __visit.poll(#every, #timeout);
        loop {
            #attempts
            if let ::core::option::Option::Some(__answer) = #value {
                break __answer;
            }
            __poll.pause().await?;
        }
    }
}

/// A call on the pool for work that blocks. It outlives the store, so that it is given values of
/// its own.
fn blocking_call(name: &Ident, parameters: &[Parameter], repeats: bool) -> TokenStream {
    let rt = runtime();
    let mut owned = Vec::new();
    let mut arguments = Vec::new();
    for parameter in parameters {
        let value = &local(&parameter.name);
        let site = here(parameter.ty.span());
        let (make, argument) = match parameter.kind {
            ParameterKind::Context => (None, quote!(&__context)),
            ParameterKind::Value(Mode::Borrow) => (
                Some(quote_spanned!(site=> #rt::OwnedForPool::owned(#value))),
                quote!(&#value),
            ),
            ParameterKind::Value(Mode::MaybeBorrow) => (
                Some(quote_spanned!(site=> #value.map(#rt::OwnedForPool::owned))),
                quote!(#value.as_ref()),
            ),
            ParameterKind::Value(Mode::MaybeDeref) => (
                Some(quote_spanned!(site=> #value.map(#rt::OwnedForPool::owned))),
                quote!(#value.as_deref()),
            ),
            ParameterKind::Value(Mode::Take | Mode::MaybeTake) => {
                (repeats.then(|| argument(parameter, true)), quote!(#value))
            }
        };
        owned.extend(make.map(|make| quote!(let #value = #make;)));
        arguments.push(argument);
    }
    quote!(#rt::blocking({
        #(#owned)*
        move || #name(#(#arguments),*)
    }))
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
