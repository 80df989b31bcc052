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
        let route = |label: &LitStr| {
            let way = self.way(&label.value());
            way.unwrap_or_else(|| unreachable!("the analysis accepted an action without a route"))
        };
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
        let bound = quote_spanned! {site=>
            let (#(#names,)*) = (#(#values,)*);
            // A branch may name keys that none of its conditions uses.
            let _ = (#(&#names,)*);
        };
        let route = quote_spanned!(site=> #(#cases)* { #otherwise });
        let mapped = self.mapped_routes();
        if mapped.is_empty() {
            return quote_spanned! {site=>
                #bound
                #rt::Result::<::core::primitive::usize, #rt::Failed>::Ok(#route)
            };
        }
        // Its keys are out of scope where the mappings write.
        quote_spanned! {site=>
            let __route: ::core::primitive::usize = { #bound #route };
            match __route { #mapped _ => {} }
            #rt::Result::<::core::primitive::usize, #rt::Failed>::Ok(__route)
        }
    }

    /// For each of its routes with mappings, the arm that applies them.
    fn mapped_routes(&self) -> TokenStream {
        let actions = self.contract.actions.iter();
        let routes = actions.filter_map(|action| self.plan.route(self.node, &action.name.value()));
        let arms = routes.map(|route| {
            let mappings = self.emit.mappings(route);
            let arm = quote_spanned!(self.site=> #route => { #mappings });
            (!mappings.is_empty()).then_some(arm)
        });
        arms.flatten().collect()
    }
}
