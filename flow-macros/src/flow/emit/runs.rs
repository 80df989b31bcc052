//! The methods that run a flow.

use proc_macro2::TokenStream;
use quote::quote_spanned;

use crate::flow::types::TypeNames;
use crate::names::here;

use super::Emit;

impl Emit<'_> {
    /// The methods that run the flow: those behind the trait `Flow`, and those of a flow without
    /// questions. These take precedence over the trait's, whose futures are boxed.
    pub(super) fn runs(&self) -> TokenStream {
        let name = &self.flow.name;
        let TypeNames { input, output, .. } = &self.names;
        let site = here(name.span());
        let (rt, runtime) = (self.runtime.hidden_at(site), self.runtime.root_at(site));
        let given = quote_spanned!(site=> <#name as #rt::Flow>::Input);
        // The methods name the borrows of their futures: rustc would propose it at the flow's name.
        let ended = quote_spanned! {site=>
            impl ::core::future::Future<Output = #rt::Result<#output, #rt::FlowError>> + ::core::marker::Send
        };
        quote_spanned! {site=>
            impl #name where for<'__a> &'__a #name: ::core::marker::Send {
                #[doc(hidden)]
                #[inline]
                pub fn __run_direct(&self, __input: #given) -> #ended + use<'_> {
                    #rt::run_direct(self, __input)
                }
                #[doc(hidden)]
                #[inline]
                pub fn __run_observed(&self, __input: #given, __settings: #rt::RunSettings) -> #ended + use<'_> {
                    #rt::run_with(self, __input, __settings)
                }
            }
            impl #name
            where
                for<'__a> &'__a #name: ::core::marker::Send,
                for<'__a> #rt::AsksPeople<{ #name::__ASKS_PEOPLE }>: #rt::Unasked<'__a>,
                for<'__a> #rt::OpensTransactions<{ #name::__OPENS_TRANSACTIONS }>: #rt::Untransacted<'__a>,
            {
                /// Runs the flow to an end: as `Flow::run`, without a box.
                #[inline]
                pub fn run(&self, __input: #input) -> #ended + use<'_> {
                    #rt::run_direct(self, __input)
                }
                /// Runs the flow to an end with options: as `Flow::run_with`, without a box.
                #[inline]
                pub fn run_with<Answers>(&self, __input: #input, __options: #runtime::RunOptions<Answers>) -> #ended + use<'_, Answers> {
                    #rt::run_with(self, __input, __options.settings)
                }
            }
            // A use of both: callers may have no other.
            impl #rt::Runs for #name
            where
                for<'__a> &'__a #name: ::core::marker::Send,
                for<'__a> #rt::AsksPeople<{ #name::__ASKS_PEOPLE }>: #rt::Unasked<'__a>,
                for<'__a> #rt::OpensTransactions<{ #name::__OPENS_TRANSACTIONS }>: #rt::Untransacted<'__a>,
            {
                fn methods() {
                    let _ = (#name::run, #name::run_with::<()>);
                }
            }
        }
    }
}
