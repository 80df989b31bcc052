//! The hidden `__step` of a node, which `flow!` calls: it makes the attempts of the part that may
//! be retried.

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned as _;
use syn::{Generics, ImplGenerics, Type, WhereClause};

use crate::contract::Mode;
use crate::names::here;
use crate::runtime::Runtime;
use crate::settings::{GivenBy, Settings, decides};
use crate::text::{is_plain, last_segment};

use super::outcome::Outcome;
use super::parameter::{Parameter, ParameterKind, local};
use super::transaction;

/// The number of arguments that clippy allows, less the two that `__step` may add.
const MANY_ARGUMENTS: usize = 5;

/// A node: the parts that functions and types have in common.
pub(super) struct Step<'a> {
    /// Its name, where the user wrote it.
    pub(super) name: &'a Ident,
    /// `revise`, or `Ask<M>`.
    pub(super) self_ty: TokenStream,
    /// The generics of its type. A function has none.
    pub(super) generics: Option<&'a Generics>,
    /// The generics of the function itself: lifetimes only.
    pub(super) lifetimes: Option<&'a Generics>,
    /// True for a type, which has a value.
    pub(super) is_type: bool,
    /// True if it calls something deprecated.
    pub(super) deprecated: bool,
    pub(super) settings: &'a Settings,
    pub(super) runtime: &'a Runtime,
    pub(super) reads: Vec<&'a Parameter>,
    pub(super) outcome: &'a Outcome,
    pub(super) outcome_span: Span,
    pub(super) error_span: Span,
    pub(super) actions: Option<&'a syn::Path>,
    pub(super) visit: bool,
    /// An expression of the outcome's value, which may `return` an error.
    pub(super) body: TokenStream,
    /// The future to await, if the step does nothing else.
    pub(super) awaits: Option<TokenStream>,
    /// The future to await, if an attempt does nothing else. It may fail: a flow that asks for only
    /// one attempt gets `__once`.
    pub(super) attempt: Option<TokenStream>,
    /// The type of the error of an attempt.
    pub(super) error: Option<&'a TokenStream>,
    /// The types of the errors of all its parts.
    pub(super) errors: Vec<&'a TokenStream>,
}

impl Step<'_> {
    /// The trait implementations and `__step`.
    pub(super) fn expand(&self) -> TokenStream {
        let rt = self.runtime.hidden();
        let Step { self_ty, .. } = self;
        let no_generics = Generics::default();
        let generics = self.generics.unwrap_or(&no_generics);
        let (generics, _, bounds) = generics.split_for_impl();
        let policy = self.policy();
        let actions = match &self.actions {
            Some(actions) => quote!(#actions),
            None => quote!(()),
        };
        let types = self.written_types().iter().enumerate().map(|(index, ty)| {
            quote!(impl #generics #rt::Writes<#index> for #self_ty #bounds { type Type = #ty; })
        });
        let read_types = self.read_types();
        let outcome_type = self.outcome_type();
        // The arguments of a generic type decide if it is a node, and rustc names the wrong one.
        let not_recommended = (!self.is_generic()).then(|| quote!(#[diagnostic::do_not_recommend]));
        let node = self.is_type.then(|| {
            let held = self.held();
            quote! {
                #not_recommended
                impl #generics #rt::Node for #self_ty #bounds { type Held = #held; type Inside = #rt::NothingInside; }
            }
        });
        let attempt = self
            .attempt
            .as_ref()
            .map(|attempt| self.first_attempt(attempt));
        let decides = self.decides();
        let error_types = self.error_types();
        let function = self.function();
        // The type that stands for a function is hidden as a whole.
        let hidden = self.is_type.then(|| quote!(#[doc(hidden)]));
        let read_checks = self.read_checks();
        let deprecated = self
            .deprecated
            .then(|| quote!(#[allow(deprecated, reason = "the node itself does not use it")]));
        let items = quote! {
            #node
            #read_checks
            impl #generics #rt::Step for #self_ty #bounds {
                #outcome_type
                type Actions = #actions;
                #policy
            }
            #(#types)*
            #(#read_types)*
            #(#error_types)*
            #deprecated
            impl #generics #self_ty #bounds {
                #attempt
                #decides
                #hidden
                #[inline]
                #function
            }
        };
        if !self.is_type {
            return items;
        }
        // The type may be defined elsewhere.
        quote! {
            #[doc(hidden)]
            #deprecated
            #[allow(non_local_definitions, reason = "a node may be defined in a function")]
            const _: () = { #items };
        }
    }

    /// The type of the value that a flow holds for the node. Only a flow knows the type parameters.
    fn held(&self) -> TokenStream {
        let self_ty = &self.self_ty;
        if self.is_generic() {
            return quote!(Self);
        }
        let site = here(self.name.span());
        let rt = self.runtime.hidden_at(site);
        quote_spanned!(site=> <#self_ty as #rt::Checked<{ <#self_ty as #rt::SharedByRuns>::CHECK }>>::Type)
    }

    /// Its own policy, if it is not the usual one.
    fn policy(&self) -> Option<TokenStream> {
        if self.settings.retry.is_none() && self.settings.timeout.is_none() {
            return None;
        }
        let rt = self.runtime.hidden();
        let usual = quote!(#rt::Policy::DEFAULT);
        let policy = self.settings.policy(&usual, GivenBy::Node, self.runtime);
        Some(quote!(const POLICY: &'static #rt::Policy = &#policy;))
    }

    /// The types of the values that it writes. A single value has the type of the outcome.
    fn written_types(&self) -> &[TokenStream] {
        match (&self.outcome.types[..], self.actions) {
            ([_], None) => &[],
            (types, _) => types,
        }
    }

    /// `__step` itself.
    fn function(&self) -> TokenStream {
        let many = (self.reads.len() > MANY_ARGUMENTS).then(|| {
            quote!(#[allow(clippy::too_many_arguments, reason = "those of the function, which is told of it")])
        });
        let function = self.function_without_attributes();
        quote!(#many #function)
    }

    fn function_without_attributes(&self) -> TokenStream {
        let rt = self.runtime.hidden();
        let (ty, body) = (&self.outcome.ty, &self.body);
        let site = here(self.name.span());
        let step = Ident::new("__step", site);
        let (lifetimes, bounds) = self.lifetimes();
        let receiver = self.receiver();
        let visit = self.visit.then(|| quote!(__visit: #rt::Visit<'_>,));
        let parameters = self.parameters();
        let signature = quote!(#step #lifetimes (#receiver #visit #(#parameters),*));
        // A step that only awaits needs no state of its own.
        if let Some(awaits) = &self.awaits {
            let future = self.future(&quote!(#ty));
            let at_name = self.runtime.hidden_at(site);
            let sent = self.sent(awaits);
            let awaited = quote_spanned!(site=> { #at_name::infallible::<#ty, _>(#sent) });
            let node_future = quote_spanned!(site=> #at_name::NodeFuture<#future>);
            return quote!(pub fn #signature -> #node_future #bounds #awaited);
        }
        let future = self.future(&quote!(::core::result::Result<#ty, #rt::Failed>));
        // If this type differs from the returned one, the error is at the returned one.
        let done = quote_spanned!(here(self.outcome_span)=> let __outcome: #ty = __outcome;);
        let work = quote! {
            {
                let __outcome = { #body };
                #done
                ::core::result::Result::Ok(__outcome)
            }
        };
        let work = self.sent(&quote_spanned!(site=> async move #work));
        quote!(pub fn #signature -> #future #bounds { #work })
    }

    /// The type of a future with this output. The bound `Send` is stated here, where it is an error
    /// of the node and not of each flow that uses it. Only a flow knows the type parameters.
    fn future(&self, output: &TokenStream) -> TokenStream {
        let site = here(self.name.span());
        let send = (!self.is_generic()).then(|| quote_spanned!(site=> + ::core::marker::Send));
        quote_spanned!(site=> impl ::core::future::Future<Output = #output> #send)
    }

    /// The future, unless the node reads a value that cannot be sent: that is a mistake of the
    /// value's source, not of the node.
    fn sent(&self, future: &TokenStream) -> TokenStream {
        if self.is_generic() {
            return future.clone();
        }
        let site = here(self.name.span());
        let rt = self.runtime.hidden_at(site);
        let reads = self.reads.iter().filter_map(|read| {
            let ty = read.sized_type().filter(|ty| !is_plain(ty))?;
            Some(if read.takes() { ty } else { quote!(&'_ #ty) })
        });
        let reads: Vec<_> = reads.collect();
        if reads.is_empty() {
            return future.clone();
        }
        quote_spanned!(site=> {
            use #rt::ReadsOthers as _;
            #rt::Reads::<(#(::core::marker::PhantomData<#reads>,)*)>::__sent(#future)
        })
    }

    pub(super) fn is_generic(&self) -> bool {
        self.generics
            .is_some_and(|generics| !generics.params.is_empty())
    }

    /// The function that decides whether another attempt follows an error, if the node names one. A
    /// constant, because a parameter of the node may have the same name.
    fn decides(&self) -> Option<TokenStream> {
        let (path, error) = (self.settings.only_if()?, self.error?);
        let given = here(path.span());
        let decides = decides(path, &quote_spanned!(given=> __error));
        Some(quote!(const __DECIDES: fn(&#error) -> ::core::primitive::bool = #decides;))
    }

    /// The code that reveals the types of its errors. Types that only a flow or a call knows cannot
    /// be named beside the node.
    fn error_types(&self) -> Vec<TokenStream> {
        if self.is_generic() {
            return Vec::new();
        }
        let rt = self.runtime.hidden();
        let named = self.errors.iter().filter(|error| is_known(error));
        let types = named.map(|error| quote!(#rt::error_type! { #error }));
        types.collect()
    }

    /// The attempt as a separate function, and `__once`, which makes it without a visit.
    fn first_attempt(&self, attempt: &TokenStream) -> TokenStream {
        let rt = self.runtime.hidden();
        let ty = &self.outcome.ty;
        let (lifetimes, bounds) = self.lifetimes();
        let receiver = self.receiver();
        let parameters: Vec<TokenStream> = self.parameters().collect();
        let arguments = self.reads.iter().map(|parameter| local(&parameter.name));
        let future = self.future(&quote!(::core::result::Result<#ty, #rt::Failed>));
        let (site, arguments) = (
            here(self.name.span()),
            quote!(__scope, Self::__attempt(#(#arguments),*)),
        );
        let at_name = self.runtime.hidden_at(site);
        let once = self.sent(&quote_spanned!(site=> #at_name::once(#arguments)));
        // rustc reports a wrong error type at both places, as one error if they are the same.
        let at_error = here(self.error_span);
        let into_failure = into_failure(self.error_span, self.runtime);
        // For a function without a pointer to it, rustc would report the error once more.
        let error = Ident::new("__error", self.error_span);
        let into_failure = quote_spanned!(at_error=> |#error| #into_failure(#error));
        let failing =
            quote_spanned!(at_error=> #rt::Attempts::only::<#ty, _, _, _>(#attempt, #into_failure));
        let failed_or_done = quote_spanned! {at_error=>
            impl ::core::future::Future<Output = ::core::result::Result<#ty, #rt::Failure>>
        };
        quote! {
            #[inline]
            fn __attempt #lifetimes (#receiver #(#parameters),*)
                -> #failed_or_done #bounds
            {
                #failing
            }
            #[doc(hidden)]
            #[inline]
            pub fn __once #lifetimes (#receiver __scope: &#rt::Scope<'_>, #(#parameters),*) -> #future #bounds
            {
                #once
            }
        }
    }

    /// The lifetimes that the function names, and its `where` clause.
    fn lifetimes(&self) -> (Option<ImplGenerics<'_>>, Option<&WhereClause>) {
        match self.lifetimes {
            Some(generics) => {
                let (lifetimes, _, bounds) = generics.split_for_impl();
                (Some(lifetimes), bounds)
            }
            None => (None, None),
        }
    }

    /// The value, as a parameter. It is not `self`, whose type is the user's definition even if it
    /// does not fit.
    fn receiver(&self) -> Option<TokenStream> {
        let rt = self.runtime.hidden();
        self.is_type
            .then(|| quote!(__node: &<Self as #rt::Node>::Held,))
    }

    /// The reads, as parameters.
    fn parameters(&self) -> impl Iterator<Item = TokenStream> {
        self.reads.iter().map(|Parameter { name, ty, .. }| {
            let name = local(name);
            quote!(#name: #ty)
        })
    }
}

/// A part of a node that may be retried.
pub(super) struct Attempted<'a> {
    /// The call, without `.await`.
    pub(super) call: TokenStream,
    pub(super) is_async: bool,
    /// True if it returns a `Result`.
    pub(super) fallible: bool,
    /// True if it can fail, by itself or by a timeout.
    pub(super) can_fail: bool,
    pub(super) context: bool,
    /// True if there can be only one attempt.
    pub(super) once: bool,
    /// True if the node names the function that decides if another attempt follows an error.
    pub(super) decides: bool,
    /// True if it runs in a transaction, which `exec` gets as `__transaction`.
    pub(super) transaction: bool,
    /// The place of its error's type, where an unsuitable error is reported.
    pub(super) error_span: Span,
    /// The value after the last attempt has failed with `__error`. `None` if the node then fails.
    pub(super) give_up: Option<TokenStream>,
    pub(super) runtime: &'a Runtime,
}

impl Attempted<'_> {
    /// The call, if it only has to be awaited.
    pub(super) fn awaited_only(&self) -> Option<TokenStream> {
        let only = self.is_async && !self.can_fail && !self.context;
        only.then(|| self.call.clone())
    }

    /// An expression of its value. `__attempts` is in scope if it can fail or asks for the context.
    pub(super) fn value(&self) -> TokenStream {
        let rt = self.runtime.hidden();
        let Attempted { call, .. } = self;
        let fail = quote!(return ::core::result::Result::Err(::core::convert::From::from(__error)));
        let context = self
            .context
            .then(|| quote!(let __context = #rt::Attempts::context(&__attempts);));
        let awaited = if self.is_async {
            quote!(#call.await)
        } else {
            call.clone()
        };
        if !self.can_fail {
            return quote!({ #context #awaited });
        }
        let result = if self.fallible {
            awaited.clone()
        } else {
            quote!(::core::result::Result::<_, ::core::convert::Infallible>::Ok(#awaited))
        };
        let work = match (self.transaction, self.fallible, self.is_async) {
            (true, _, _) => transaction::attempt(&result, self.runtime),
            (false, true, true) => call.clone(),
            (false, _, _) => quote!(async { #result }),
        };
        let site = here(self.error_span);
        let into_failure = into_failure(self.error_span, self.runtime);
        let (into_failure, decides) = if self.transaction {
            (
                transaction::into_failure(&into_failure, self.runtime),
                transaction::decides(self.runtime),
            )
        } else {
            (into_failure, quote_spanned!(site=> Self::__DECIDES))
        };
        let attempt = if self.decides {
            quote_spanned!(site=> #rt::Attempts::attempt_if(&mut __attempts, __work, #into_failure, #decides).await)
        } else {
            quote_spanned!(site=> #rt::Attempts::attempt(&__attempts, __work, #into_failure).await)
        };
        // A copy, because an attempt may change `__attempts`.
        let visit = self
            .transaction
            .then(|| quote!(let __visited = #rt::Attempts::visit(&__attempts);));
        let attempt = quote!({
            #visit
            let __work = ::core::pin::pin!(#work);
            let __result = #attempt;
            __result
        });
        if self.once {
            let give_up = self.give_up.as_ref().unwrap_or(&fail);
            return quote!({
                #context
                match #attempt {
                    ::core::result::Result::Ok(__value) => __value,
                    ::core::result::Result::Err(__failure) => {
                        let __error = #rt::Attempts::exhausted(&__attempts, __failure);
                        #give_up
                    }
                }
            });
        }
        let give_up = self
            .give_up
            .as_ref()
            .map_or(fail, |value| quote!(break #value));
        quote!(loop {
            #context
            match #attempt {
                ::core::result::Result::Ok(__value) => break __value,
                ::core::result::Result::Err(__failure) => match #rt::Attempts::again(&mut __attempts, __failure).await {
                    ::core::result::Result::Ok(()) => {}
                    ::core::result::Result::Err(__error) => #give_up,
                },
            }
        })
    }
}

/// Returns true if a type has no lifetime, and neither `Self` nor `impl` nor `_`.
fn is_known(ty: &TokenStream) -> bool {
    ty.clone().into_iter().all(|token| match token {
        TokenTree::Group(group) => is_known(&group.stream()),
        TokenTree::Ident(word) => ["Self", "impl", "_"].iter().all(|other| word != other),
        TokenTree::Punct(punct) => punct.as_char() != '\'',
        TokenTree::Literal(_) => true,
    })
}

/// The function that converts an error to one of a node. If that is impossible, rustc reports it at
/// the error's type, as it does for the user's code.
fn into_failure(user: Span, runtime: &Runtime) -> TokenStream {
    let rt = runtime.hidden_at(user);
    quote_spanned!(user=> #rt::IntoFailure::into_failure)
}

/// The argument for a parameter: the value with the same name, cloned if another attempt may
/// follow.
pub(super) fn argument(parameter: &Parameter, cloned: bool, runtime: &Runtime) -> TokenStream {
    let rt = runtime.hidden();
    let name = local(&parameter.name);
    match parameter.kind {
        ParameterKind::Context => context(&parameter.ty, &quote!(&__context), runtime),
        ParameterKind::Transaction => quote!(#rt::Begun::get(&mut __transaction)),
        ParameterKind::Value(Mode::Take | Mode::MaybeTake) if cloned => {
            let span = here(syn::spanned::Spanned::span(&parameter.ty));
            quote_spanned!(span=> #rt::Cloneable::for_attempt(&#name))
        }
        ParameterKind::Value(_) => quote!(#name),
    }
}

/// The argument for a parameter of the type `&Context`. If that is another type of the name, rustc
/// reports it there.
pub(super) fn context(ty: &Type, context: &TokenStream, runtime: &Runtime) -> TokenStream {
    let name = match ty {
        Type::Reference(reference) => last_segment(&reference.elem),
        _ => None,
    };
    let user = name.map_or_else(|| ty.span(), Ident::span);
    let rt = runtime.hidden_at(user);
    quote_spanned!(user=> #rt::RunContext::of(#context))
}
