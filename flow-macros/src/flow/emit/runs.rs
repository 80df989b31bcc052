//! The methods that run a flow.

use proc_macro2::TokenStream;
use quote::quote_spanned;

use crate::flow::types::TypeNames;
use crate::names::here;

use super::context::Emit;

impl Emit<'_> {
    /// The methods that run the flow: those behind the trait `Flow`, and those of a flow that
    /// needs only its input. These take precedence over the trait's, whose futures are boxed.
    pub(super) fn runs(&self) -> TokenStream {
        let name = &self.flow.name;
        let TypeNames { input, output, .. } = &self.names;
        let site = here(name.span());
        let rt = self.runtime.hidden_at(site);
        let ended = quote_spanned! {site=>
            impl ::core::future::Future<Output = #rt::Result<#output, #rt::FlowError>> + ::core::marker::Send
        };
        quote_spanned! {site=>
            #rt::runs! {
                #name #input run run_with
                {#ended}
                {for<'__a> &'__a #name: ::core::marker::Send,}
                {
                    for<'__a> #rt::AsksPeople<{ #name::__ASKS_PEOPLE }>: #rt::Unasked<'__a>,
                    for<'__a> #rt::OpensTransactions<{ #name::__OPENS_TRANSACTIONS }>: #rt::Untransacted<'__a>,
                    for<'__a> #rt::ReceivesSignals<{ #name::__RECEIVES_SIGNALS }>: #rt::WithoutSignals<'__a>,
                }
            }
        }
    }
}
