//! A `branch`: looks at its conditions one by one, and the first that holds says the action.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::LitStr;

use super::Visit;

impl Visit<'_> {
    /// The body of a branch's `async fn`.
    pub(super) fn branch(&self, index: usize) -> TokenStream {
        let (rt, site) = (&self.rt, self.site);
        let branch = &self.plan.flow.branches[index];
        // Bound all at once: one may have the name of what generated code reads the next one from.
        let names = &branch.reads;
        let values = self.contract.reads.iter().enumerate();
        let values = values.map(|(read, port)| self.value(read, port));
        let route = |label: &LitStr| self.route(&label.value());
        let cases = branch.cases.iter().map(|(condition, label)| {
            let route = route(label);
            // After `if`, the braces of `x == X { y: 1 }` are those of the block.
            let condition = match syn::parse2::<syn::ExprIf>(quote!(if #condition {})) {
                Ok(_) => quote!(#condition),
                Err(_) => quote!((#condition)),
            };
            quote_spanned!(site=> if #condition { #route } else)
        });
        let otherwise = branch.otherwise.as_ref().map(route);
        quote_spanned! {site=>
            let (#(#names,)*) = (#(#values,)*);
            // A branch may name what none of its conditions looks at.
            let _ = (#(&#names,)*);
            ::core::result::Result::<usize, #rt::Failed>::Ok(#(#cases)* { #otherwise })
        }
    }
}
