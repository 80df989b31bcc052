//! The body of a node's `__step`: one phase after the other, with the attempts around `exec`.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};

use crate::names::here;
use crate::node::step::{Attempted, argument};
use crate::report::Report;

use super::node::Node;
use super::phase::Phase;

impl Node<'_> {
    /// The body, and the call of `exec` if it only has to be awaited.
    pub(super) fn body(&self, report: &mut Report) -> (TokenStream, Option<TokenStream>) {
        let (rt, can_fail) = (self.attribute.runtime.hidden(), self.exec_can_fail());
        let attempts = self.attempts().has_visit().then(|| {
            let mutable = (can_fail && !self.once()).then(|| quote!(mut));
            quote!(let #mutable __attempts = #rt::Visit::attempts(__visit);)
        });
        let prep = self.prep.as_ref().map(|prep| {
            let arguments: Vec<_> = prep
                .parameters
                .iter()
                .map(|parameter| argument(parameter, false, &self.attribute.runtime))
                .collect();
            let value = self.checked(prep, quote!(Prep), &arguments);
            quote!(let __prep = #value;)
        });
        let attempted = Attempted {
            call: self.exec.call(&self.exec_arguments(report)),
            is_async: self.exec.sig.asyncness.is_some(),
            fallible: self.exec.returned.fallible,
            can_fail,
            context: self.exec.has_context(),
            once: self.once(),
            decides: self.attribute.settings.only_if().is_some(),
            transaction: self.attribute.transaction.is_some(),
            error_span: self.exec.returned.error_span,
            give_up: self.give_up(report),
            runtime: &self.attribute.runtime,
        };
        let exec = attempted.value();
        let Some(post) = &self.post else {
            let only = attempted.awaited_only().filter(|_| self.prep.is_none());
            return (quote!(#attempts #prep #exec), only);
        };
        let arguments = self.post_arguments(post);
        let value = self.checked(post, quote!(Post), &arguments);
        (quote!(#attempts #prep let __exec = #exec; #value), None)
    }

    /// The value of a phase that is not retried.
    fn checked(&self, phase: &Phase, name: TokenStream, arguments: &[TokenStream]) -> TokenStream {
        let call = phase.awaited(arguments);
        let context = phase.context(&self.attribute.runtime);
        if phase.returned.fallible {
            let rt = self.attribute.runtime.hidden();
            quote!({ #context #rt::Attempts::once(&__attempts, #rt::Phase::#name, #call)? })
        } else {
            quote!({ #context #call })
        }
    }

    /// The fallback's value, if there is a fallback.
    fn give_up(&self, report: &mut Report) -> Option<TokenStream> {
        let fallback = self.fallback.as_ref()?;
        let arguments = self.fallback_arguments(fallback, report);
        let (rt, context) = (
            self.attribute.runtime.hidden(),
            fallback.context(&self.attribute.runtime),
        );
        let value = fallback.awaited(&arguments);
        Some(if fallback.returned.fallible {
            quote!({
                #context
                let __error = #rt::Attempts::falls_back(&__attempts, __error).await;
                let __fallback = #value;
                #rt::Attempts::fallback(&__attempts, __fallback, __error)?
            })
        } else {
            // Bound where its type is written, so that the error is there if `exec` has another
            // type.
            let given = quote_spanned!(here(fallback.returned.span)=> __given);
            quote!({
                #context
                let __error = #rt::Attempts::falls_back(&__attempts, __error).await;
                let #given = #value;
                #given
            })
        })
    }
}
