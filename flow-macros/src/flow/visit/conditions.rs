//! A `branch`: tests its conditions one by one, and the first that holds decides the action.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::LitStr;

use crate::flow::plan::ReadIndex;
use crate::flow::syntax::BranchIndex;

use super::Visit;

impl Visit<'_> {
    /// The body of a branch's `async fn`.
    pub(super) fn branch(&self, index: BranchIndex) -> TokenStream {
        let (rt, site) = (&self.rt, self.site);
        let branch = &self.plan.flow[index];
        // All bound at once, because one may have the name of the variable from which generated
        // code reads the next one.
        let names = &branch.reads;
        let values = self.contract.reads.iter().enumerate();
        let values = values.map(|(read, port)| self.value(ReadIndex(read), port));
        let route = |label: &LitStr| self.route(&label.value());
        let cases = branch.cases.iter().map(|(condition, label)| {
            let route = route(label);
            // After `if`, the braces of `x == X { y: 1 }` would be those of the block.
            let condition = match syn::parse2::<syn::ExprIf>(quote!(if #condition {})) {
                Ok(_) => quote!(#condition),
                Err(_) => quote!((#condition)),
            };
            quote_spanned!(site=> if #condition { #route } else)
        });
        let otherwise = branch.otherwise.as_ref().map(route);
        quote_spanned! {site=>
            let (#(#names,)*) = (#(#values,)*);
            // A branch may name keys that none of its conditions uses.
            let _ = (#(&#names,)*);
            ::core::result::Result::<usize, #rt::Failed>::Ok(#(#cases)* { #otherwise })
        }
    }
}
