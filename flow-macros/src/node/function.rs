//! `#[node]` on a function.

use flow_spec::Code;
use proc_macro2::{TokenStream, TokenTree};
use quote::{quote, quote_spanned};
use syn::parse::{Parse, ParseStream, Parser as _};
use syn::spanned::Spanned as _;
use syn::{Attribute, FnArg, GenericParam, Ident, Signature, Token, Visibility};

use crate::contract::{Attempts, Contract, Failure, Mode};
use crate::documentation::{documentation, refuse_unknown};
use crate::editor;
use crate::names::{here, is_type_name, plain, refuse_reserved};
use crate::protocol::Named;
use crate::report::Report;
use crate::runtime::Runtime;
use crate::settings::duration_tokens;
use crate::text::{is_of_std, last_segment, type_text};
use crate::twice::Extent;

use super::attribute::{NodeAttribute, Poll, refuse_timeout};
use super::contract::contract;
use super::outcome::{Outcome, Returned, returns_future};
use super::parameter::{
    GetsTransaction, Parameter, ParameterKind, local, parameters, refuse_attributes,
};
use super::step::{Attempted, Step, argument, context};
use super::transaction;

/// A function as far as we parse it, without its body.
struct Function {
    attributes: Vec<Attribute>,
    vis: Visibility,
    sig: Signature,
}

impl Parse for Function {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let attributes = input.call(Attribute::parse_outer)?;
        let function = Function {
            attributes,
            vis: input.parse()?,
            sig: input.parse()?,
        };
        while !input.is_empty() {
            input.parse::<TokenTree>()?;
        }
        Ok(function)
    }
}

/// The beginning of a function, up to its name.
struct Header {
    vis: Visibility,
    name: Ident,
}

impl Header {
    fn of(item: TokenStream) -> syn::Result<Self> {
        let header = |input: ParseStream<'_>| {
            input.call(Attribute::parse_outer)?;
            let vis = input.parse()?;
            while !input.peek(Token![fn]) {
                input.parse::<TokenTree>()?;
            }
            input.parse::<Token![fn]>()?;
            let name = input.parse()?;
            input.parse::<TokenStream>()?;
            Ok(Header { vis, name })
        };
        header.parse2(item)
    }
}

/// The items next to the function.
pub(super) fn expand(
    attribute: &NodeAttribute,
    item: TokenStream,
    report: &mut Report,
) -> syn::Result<TokenStream> {
    let extent = Extent::of(&item);
    let function: Function = match syn::parse2(item.clone()) {
        Ok(function) => function,
        // rustc has reported a mistake inside the function.
        Err(_) if Header::of(item.clone()).is_ok() => return stub(item, &attribute.runtime),
        Err(error) => {
            let text = "`#[node]` belongs on a function, on an `impl` block with `exec`, or on a type with `human`";
            return Err(syn::Error::new(error.span(), text));
        }
    };
    refuse_unusual(&function.sig, report);
    refuse_unknown(&function.attributes, report);
    refuse_attributes(&function.sig, "the whole function", report);
    refuse_reserved(&function.sig.ident, report);
    let node = Node::new(attribute, &function, report);
    node.refuse_settings(report);
    if !report.is_empty() {
        // The enum is asked for its actions only if there is no mistake.
        return match attribute.actions {
            Some(_) => stub(item, &attribute.runtime),
            None => stub_with(item, node.contract(), &attribute.runtime),
        };
    }
    let (name, vis) = (&function.sig.ident, &function.vis);
    let step = node.step().expand();
    // Because of its name, a flow takes the node for a type, and reports that. It must not ask for
    // more.
    let as_type = is_type_name(name).then(|| {
        let rt = attribute.runtime.hidden();
        quote! {
            #[doc(hidden)]
            const _: () = {
                impl #rt::Node for #name { type Held = Self; type Inside = #rt::NothingInside; }
                impl ::core::default::Default for #name {
                    fn default() -> Self { #name {} }
                }
            };
        }
    });
    // For an editor, without the type: an import of the node should lead to the function.
    let (unit_type, items) = if editor::expands() {
        (TokenStream::new(), TokenStream::new())
    } else {
        (extent.unit_type(vis, name), quote!(#step #as_type))
    };
    let named = Named {
        name,
        vis,
        item: Some(extent),
        items,
        runtime: &attribute.runtime,
    };
    let contract = contract(&named, attribute, &node.contract());
    Ok(quote!(#unit_type #contract))
}

/// A function with its settings and derived facts.
struct Node<'a> {
    attribute: &'a NodeAttribute,
    function: &'a Function,
    parameters: Vec<Parameter>,
    returned: Returned,
    /// The type that the node returns: the function's or, for a poll, the type of the answer.
    answer: Returned,
    outcome: Outcome,
}

impl<'a> Node<'a> {
    fn new(attribute: &'a NodeAttribute, function: &'a Function, report: &mut Report) -> Self {
        let sig = &function.sig;
        let gets = match attribute.transaction {
            Some(_) => GetsTransaction::Yes,
            None => GetsTransaction::No,
        };
        let parameters = parameters(sig.inputs.iter(), gets, report);
        let returned = Returned::new(&sig.output, sig.ident.span(), &attribute.runtime, report);
        returned.refuse_lifetimes_of(&sig.generics, report);
        let answer = match &attribute.poll {
            Some(_) => returned.answer(report),
            None => returned.clone(),
        };
        let outcome = answer.outcome(&plain(&sig.ident), attribute, report);
        Node {
            attribute,
            function,
            parameters,
            returned,
            answer,
            outcome,
        }
    }

    fn refuse_settings(&self, report: &mut Report) {
        let name = &self.function.sig.ident;
        if let (Some((span, _)), false) = (&self.attribute.settings.retry, self.can_fail()) {
            let message = format!("`{name}` cannot fail, so there is nothing to retry");
            let returned = match &self.outcome.alias {
                Some(alias) if last_segment(alias).is_some_and(|name| !is_of_std(name)) => {
                    format!(
                        "return a `Result` by this name, and not `{}`",
                        type_text(alias)
                    )
                }
                _ => "return a `Result`".to_owned(),
            };
            let timeout = if self.never_awaits() {
                ""
            } else {
                " give it a `timeout`,"
            };
            let help = format!("{returned},{timeout} or remove `retry`");
            report.error(Code::CannotFail, *span, message, help);
        }
        self.attribute
            .refuse_if_without_error(name, &self.returned, report);
        if let Some(span) = self.attribute.transaction {
            let works = self.is_async() && !self.is_blocking();
            let kinds = self.parameters.iter().map(|parameter| parameter.kind);
            let has_it = kinds
                .into_iter()
                .any(|kind| kind == ParameterKind::Transaction);
            transaction::refuse(name, span, works, has_it, report);
            if let Some(poll) = &self.attribute.poll {
                transaction::refuse_poll(name, poll.span, report);
            }
        }
        if let (Some((span, _)), true) = (self.attribute.settings.timeout, self.never_awaits()) {
            let help = "write `async fn` and await what takes long, or add `blocking` if it blocks";
            refuse_timeout(&format!("`{name}`"), span, help, report);
        }
        if let (Some(span), true) = (self.attribute.blocking, self.is_async()) {
            let help = "remove `async`, or `blocking`: an async function does not block";
            report.error(Code::Malformed, span, format!("`{name}` is async"), help);
        }
    }

    fn is_async(&self) -> bool {
        self.function.sig.asyncness.is_some()
    }

    fn is_blocking(&self) -> bool {
        self.attribute.blocking.is_some()
    }

    /// Returns true if an attempt never awaits.
    fn never_awaits(&self) -> bool {
        !self.is_async() && !self.is_blocking() && !returns_future(&self.function.sig.output)
    }

    /// Returns true if an attempt can fail.
    fn can_fail(&self) -> bool {
        self.returned.fallible
            || self.attribute.settings.timeout.is_some()
            || self.attribute.transaction.is_some()
    }

    /// Returns true if it may be called more than once.
    fn repeats(&self) -> bool {
        self.attribute.settings.repeats() || self.attribute.poll.is_some()
    }

    /// Returns true if a call consumes the values that it takes.
    fn once(&self) -> bool {
        self.parameters.iter().any(Parameter::takes) && !self.repeats()
    }

    fn has_context(&self) -> bool {
        let mut kinds = self.parameters.iter().map(|parameter| parameter.kind);
        kinds.any(|kind| kind == ParameterKind::Context)
    }

    /// Returns true if it makes one attempt, without a timeout, unless a flow asks for more.
    fn single(&self) -> bool {
        let settings = &self.attribute.settings;
        self.returned.fallible
            && self.is_async()
            && settings.retry.is_none()
            && settings.timeout.is_none()
            && self.attribute.poll.is_none()
            && self.attribute.transaction.is_none()
            && !self.has_context()
    }

    fn attempts(&self) -> Attempts {
        if self.can_fail() && self.once() {
            Attempts::One
        } else if self.can_fail() {
            Attempts::Many
        } else if self.has_context() || self.attribute.poll.is_some() {
            Attempts::Visit
        } else {
            Attempts::None
        }
    }

    fn contract(&self) -> Contract {
        let poll = self.attribute.poll.as_ref();
        let gives_up = poll.is_some_and(|poll| poll.timeout.is_some());
        let ports = self.parameters.iter().filter_map(Parameter::port);
        Contract {
            attempts: self.attempts(),
            failure: match (gives_up, self.can_fail()) {
                (true, true) => Failure::OrTimeout,
                (true, false) => Failure::Timeout,
                (false, can_fail) => Failure::possible_if(can_fail),
            },
            single: self.single(),
            transaction: self.attribute.transaction.is_some(),
            // A flow's timeout of a poll that cannot fail covers all its pauses.
            never_awaits: self.never_awaits() && (poll.is_none() || self.can_fail()),
            awaits_besides: poll.is_some() || self.attribute.settings.waits(),
            reads: ports.collect(),
            writes: self.outcome.writes.clone(),
            about: self
                .attribute
                .about(documentation(&self.function.attributes)),
            ..Contract::empty()
        }
    }

    /// One call, and its possible results.
    fn attempted(&self) -> Attempted<'_> {
        let name = &self.function.sig.ident;
        let arguments = self
            .parameters
            .iter()
            .map(|parameter| argument(parameter, self.repeats(), &self.attribute.runtime));
        let call = if self.is_blocking() {
            blocking_call(
                name,
                &self.parameters,
                self.repeats(),
                &self.attribute.runtime,
            )
        } else if self.single() {
            quote!(Self::__attempt(#(#arguments),*))
        } else {
            quote_spanned!(here(name.span())=> #name(#(#arguments),*))
        };
        Attempted {
            call,
            is_async: self.is_async() || self.is_blocking(),
            fallible: self.returned.fallible,
            can_fail: self.can_fail(),
            context: self.has_context(),
            once: self.once(),
            decides: self.attribute.settings.only_if().is_some(),
            transaction: self.attribute.transaction.is_some(),
            error_span: self.returned.error_span,
            give_up: None,
            runtime: &self.attribute.runtime,
        }
    }

    fn step(&self) -> Step<'_> {
        let (rt, name) = (self.attribute.runtime.hidden(), &self.function.sig.ident);
        let attempted = self.attempted();
        let attempts = (self.can_fail() || self.has_context()).then(|| {
            let mutable = (self.can_fail() && !self.once()).then(|| quote!(mut));
            let of = match &self.attribute.poll {
                None => quote!(#rt::Visit::attempts(__visit)),
                Some(_) => quote!(#rt::Poll::attempts(&__poll)),
            };
            quote!(let #mutable __attempts = #of;)
        });
        let awaits = attempted
            .awaited_only()
            .filter(|_| self.attribute.poll.is_none() && !self.is_blocking());
        let body = match (&awaits, &self.attribute.poll) {
            // A call that only awaits needs nothing else.
            (Some(_), _) => TokenStream::new(),
            (None, Some(poll)) => polled(
                poll,
                attempts.as_ref(),
                &attempted.value(),
                &self.attribute.runtime,
            ),
            (None, None) => {
                let value = attempted.value();
                quote!(#attempts #value)
            }
        };
        let names = self
            .parameters
            .iter()
            .map(|parameter| local(&parameter.name));
        let reads = self.parameters.iter();
        Step {
            name,
            self_ty: quote!(#name),
            generics: None,
            lifetimes: Some(&self.function.sig.generics),
            actions: self.attribute.actions.as_ref(),
            is_type: false,
            deprecated: self.attribute.deprecated,
            settings: &self.attribute.settings,
            runtime: &self.attribute.runtime,
            reads: reads.filter(|parameter| parameter.is_read()).collect(),
            outcome: &self.outcome,
            outcome_span: self.answer.span,
            error_span: self.returned.error_span,
            visit: self.attempts().has_visit(),
            body,
            awaits,
            attempt: self.single().then(|| quote!(#name(#(#names),*))),
            error: self.returned.error.as_ref(),
            errors: self.returned.error.iter().collect(),
        }
    }
}

/// The items next to a function with mistakes.
pub(super) fn stub(item: TokenStream, runtime: &Runtime) -> syn::Result<TokenStream> {
    stub_with(item, Contract::broken(), runtime)
}

/// The items next to a function with mistakes, as far as it is known.
fn stub_with(item: TokenStream, contract: Contract, runtime: &Runtime) -> syn::Result<TokenStream> {
    let extent = Extent::of(&item);
    let function: syn::Result<Function> = syn::parse2(item.clone());
    if function
        .is_ok_and(|function| matches!(function.sig.inputs.first(), Some(FnArg::Receiver(_))))
    {
        return Ok(TokenStream::new());
    }
    let Header { vis, name } = Header::of(item)?;
    let unit_type = extent.unit_type(&vis, &name);
    let no_generics = syn::Generics::default();
    let unit = quote!(#name);
    let stub = super::contract::stub(
        &name,
        &vis,
        Some(extent),
        &no_generics,
        &unit,
        contract,
        runtime,
    );
    if editor::expands() {
        return Ok(stub);
    }
    Ok(quote!(#unit_type #stub))
}

/// Polls until there is an answer or no time is left.
fn polled(
    poll: &Poll,
    attempts: Option<&TokenStream>,
    value: &TokenStream,
    runtime: &Runtime,
) -> TokenStream {
    let (rt, every) = (runtime.hidden(), duration_tokens(poll.every));
    let timeout = match poll.timeout.map(duration_tokens) {
        Some(timeout) => quote!(::core::option::Option::Some(#timeout)),
        None => quote!(::core::option::Option::None),
    };
    quote! {
        let __poll = #rt::Visit::poll(__visit, #every, #timeout);
        loop {
            #attempts
            if let ::core::option::Option::Some(__answer) = #value {
                break __answer;
            }
            #rt::Poll::pause(&__poll).await?;
        }
    }
}

/// A call on the pool for blocking work. It can outlive the state, so it gets its own values.
fn blocking_call(
    name: &Ident,
    parameters: &[Parameter],
    repeats: bool,
    runtime: &Runtime,
) -> TokenStream {
    let rt = runtime.hidden();
    let mut owned = Vec::new();
    let mut arguments = Vec::new();
    for parameter in parameters {
        let value = &local(&parameter.name);
        let site = here(parameter.ty.span());
        let (make, argument) = match parameter.kind {
            ParameterKind::Context => (None, context(&parameter.ty, &quote!(__context), runtime)),
            // Refused: a node that blocks has no transaction.
            ParameterKind::Transaction => (None, quote!(#value)),
            ParameterKind::Value(Mode::Borrow) => (
                Some(quote_spanned!(site=> #rt::OwnedForPool::owned(#value))),
                quote!(&#value),
            ),
            ParameterKind::Value(Mode::MaybeBorrow) => (
                Some(quote_spanned!(site=> #value.map(#rt::OwnedForPool::owned))),
                quote!(#rt::Option::as_ref(&#value)),
            ),
            ParameterKind::Value(Mode::MaybeDeref) => (
                Some(quote_spanned!(site=> #value.map(#rt::OwnedForPool::owned))),
                quote!(#rt::Option::as_deref(&#value)),
            ),
            ParameterKind::Value(Mode::Take | Mode::MaybeTake) => (
                repeats.then(|| argument(parameter, true, runtime)),
                quote!(#value),
            ),
        };
        owned.extend(make.map(|make| quote!(let #value = #make;)));
        arguments.push(argument);
    }
    let has_context = parameters
        .iter()
        .any(|parameter| matches!(parameter.kind, ParameterKind::Context));
    let (run, context) = if has_context {
        (quote!(blocking_with), Some(quote!(__context)))
    } else {
        (quote!(blocking), None)
    };
    let given = context.iter();
    quote!(#rt::#run(#(#given,)* {
        #(#owned)*
        move |#context| #name(#(#arguments),*)
    }))
}

/// Reports functions that a flow could not call.
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
