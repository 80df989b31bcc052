//! What a flow needs from whoever runs it, as constants.

use std::collections::HashSet;

use proc_macro2::TokenStream;
use quote::quote_spanned;

use crate::contract::Kind;
use crate::names::here;
use crate::runtime::runtime_at;

use super::instances::path_key;
use super::plan::Plan;
use super::types::node_type;

impl Plan<'_> {
    /// The constants that say whether the flow or one of its inner flows asks people, and whether one
    /// of their nodes writes in a transaction.
    pub(super) fn requirements(&self) -> TokenStream {
        let site = here(self.flow.name.span());
        let rt = runtime_at(site);
        let mut seen = HashSet::new();
        let asking = self.nodes().filter_map(|(_, instance, contract)| {
            instance.path().filter(|path| seen.insert(path_key(path)))?;
            match contract.kind {
                Kind::Human => Some(quote_spanned!(site=> true)),
                Kind::Flow => {
                    let ty = node_type(self.flow, instance);
                    Some(quote_spanned!(site=> #rt::asks_people!(#ty)))
                }
                Kind::Function | Kind::Type => None,
            }
        });
        let opening = self.opening();
        quote_spanned! {site=>
            #[doc(hidden)]
            pub const __ASKS_PEOPLE: ::core::primitive::bool = false #(|| #asking)*;
            #[doc(hidden)]
            pub const __OPENS_TRANSACTIONS: ::core::primitive::bool = #opening;
        }
    }

    /// Whether the flow or one of its inner flows has a node with a transaction.
    fn opening(&self) -> TokenStream {
        let site = here(self.flow.name.span());
        if self.nodes().any(|(_, _, contract)| contract.transaction) {
            return quote_spanned!(site=> true);
        }
        let rt = runtime_at(site);
        let mut seen = HashSet::new();
        let inner = self.nodes().filter_map(|(_, instance, contract)| {
            instance.path().filter(|path| seen.insert(path_key(path)))?;
            let ty = (contract.kind == Kind::Flow).then(|| node_type(self.flow, instance))?;
            Some(quote_spanned!(site=> || #rt::opens_transactions!(#ty)))
        });
        quote_spanned!(site=> false #(#inner)*)
    }
}
