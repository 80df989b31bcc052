//! The types that a node reads and returns: checks at each type, and their names for flows.

use std::collections::HashSet;

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::spanned::Spanned as _;

use crate::names::here;
use crate::text::{is_compared, is_plain, item_of_slice, lifetimes};

use super::step::Step;

impl Step<'_> {
    /// The user's types that it reads, so that a flow can compare them with the written ones.
    pub(super) fn read_types(&self) -> Vec<TokenStream> {
        if self.is_generic() {
            return Vec::new();
        }
        let (rt, self_ty) = (self.runtime.hidden(), &self.self_ty);
        let reads = self.reads.iter();
        let ports = reads.filter_map(|read| Some((read.port()?, read.sized_type())));
        let compared = ports.enumerate().filter_map(|(index, (port, ty))| {
            let text = item_of_slice(&port.rust_type).unwrap_or(&port.rust_type);
            let ty = ty.filter(|ty| is_compared(text) && !is_plain(ty))?;
            Some(quote!(impl #rt::ReadsAt<#index> for #self_ty { type Type = #ty; }))
        });
        compared.collect()
    }

    /// Checks of the types that it reads by reference, each at the type. Only a flow knows the type
    /// parameters.
    pub(super) fn read_checks(&self) -> TokenStream {
        if self.is_generic() {
            return TokenStream::new();
        }
        let mut seen = HashSet::new();
        let borrowed = self.reads.iter().filter(|read| !read.takes());
        let checks = borrowed.filter_map(|read| {
            let ty = read.sized_type().filter(|ty| !is_plain(ty))?;
            // Only the function knows its lifetimes, and only the type is `Self`.
            let text = ty.to_string();
            if lifetimes(&ty).next().is_some() || text.contains("Self") || !seen.insert(text) {
                return None;
            }
            let site = here(ty.span());
            let rt = self.runtime.hidden_at(site);
            let is_sent = quote_spanned! {site=> {
                use #rt::ReadsOthers as _;
                #rt::Reads::<#ty>::__IS_SENT
            }};
            Some(quote_spanned! {site=>
                const _: ::core::primitive::usize = <#ty as #rt::ReadByReference<#is_sent>>::CHECK;
            })
        });
        checks.collect()
    }

    /// `type Outcome`. If its values cannot be sent, or a public node returns a private type, the
    /// error is at the type.
    pub(super) fn outcome_type(&self) -> TokenStream {
        let site = here(self.outcome_span);
        let ty = &self.outcome.ty;
        if self.is_generic() {
            return quote_spanned!(site=> type Outcome = #ty;);
        }
        let rt = self.runtime.hidden_at(site);
        let written = self.outcome.types.iter();
        let actions = self.actions.map(|actions| quote!(#actions));
        let checked = written.chain(&actions).filter(|ty| !is_plain(ty));
        let checks =
            checked.map(|ty| quote_spanned!(site=> <#ty as #rt::GoesBetweenThreads>::CHECK));
        let check = checks
            .chain(self.alias_check())
            .reduce(|one, other| quote_spanned!(site=> #one + #other));
        match check {
            Some(check) => {
                quote_spanned!(site=> type Outcome = <#ty as #rt::Checked<{ #check }>>::Type;)
            }
            None => quote_spanned!(site=> type Outcome = #ty;),
        }
    }

    /// A return type counts as a `Result` if its name is `Result`. A `Result` behind another name
    /// would be a value like any other and its error would be lost, so it is refused.
    fn alias_check(&self) -> Option<TokenStream> {
        let (rt, ty) = (self.runtime.hidden(), self.outcome.alias.as_ref()?);
        if self
            .generics
            .is_some_and(|generics| !generics.params.is_empty())
        {
            return None;
        }
        let site = here(self.outcome_span);
        let check =
            quote_spanned!(site=> { use #rt::NoResult as _; #rt::ResultCheck::<#ty>::__IS_RESULT });
        Some(quote_spanned!(site=> <#ty as #rt::LosesNoError<#check>>::CHECK))
    }
}
