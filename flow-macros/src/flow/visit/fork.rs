//! A fork: its branches run at the same time in the run's own task. Each sees the store as it stood at the fork, has
//! a small store of its own for what it writes, and is written back when all are done.

use flow_spec::DEFAULT_ACTION;
use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote_spanned};

use crate::flow::items::node_variant;
use crate::names::ident;

use super::branch_store::BranchStore;
use super::{Place, Visit};

impl Visit<'_> {
    /// The body of a fork's `async fn`, and the functions of its branches.
    pub(super) fn fork(&self, branches: &[Vec<usize>]) -> (TokenStream, TokenStream) {
        let (rt, site) = (&self.rt, self.site);
        let stores: Vec<BranchStore> = branches
            .iter()
            .enumerate()
            .map(|(number, chain)| BranchStore::new(self.drive, self, number, chain))
            .collect();
        let owns: Vec<Ident> = (0..stores.len())
            .map(|number| format_ident!("own_{number}", span = site))
            .collect();
        let functions: Vec<Ident> = stores
            .iter()
            .map(|store| format_ident!("__run_{}", store.name, span = site))
            .collect();
        let made = stores.iter().zip(&owns).map(|(store, own)| {
            let value = self.branch_store(store);
            quote_spanned!(site=> let mut #own = #value;)
        });
        let limit = self
            .settings
            .concurrency
            .map(|(_, limit)| quote_spanned!(site=> let limit = #rt::Limit::new(#limit);));
        let runs = functions.iter().zip(&owns).map(|(function, own)| {
            let run = quote_spanned!(site=> self.#function(engine, scope, base, &mut #own));
            match limit {
                Some(_) => quote_spanned!(site=> async {
                    let _room = limit.room().await;
                    #run.await
                }),
                None => run,
            }
        });
        let joined = joined(rt, site, &runs.collect::<Vec<_>>());
        let outcome = self.outcome(quote_spanned!(site=> joined));
        let writes = stores.iter().zip(&owns).flat_map(|(store, own)| {
            store
                .keys()
                .into_iter()
                .map(|key| {
                    let field = ident(key, self.instance.span);
                    quote_spanned! {site=>
                        if let ::core::option::Option::Some(value) = #own.#field {
                            state.#field = ::core::option::Option::Some(value);
                        }
                    }
                })
                .collect::<Vec<_>>()
        });
        let writes: Vec<TokenStream> = writes.collect();
        let route = self.route(DEFAULT_ACTION);
        let more = stores
            .iter()
            .zip(&functions)
            .map(|(store, function)| self.branch_functions(store, function));
        let more = more.collect();
        let body = quote_spanned! {site=>
            #(#made)*
            #limit
            let joined = {
                let base: &__State = state;
                #joined.await
            };
            #outcome
            #(#writes)*
            ::core::result::Result::Ok(#route)
        };
        (body, more)
    }

    /// The value of a branch's store at the fork.
    fn branch_store(&self, branch: &BranchStore) -> TokenStream {
        let site = self.site;
        let name = &branch.name;
        let keys = branch.keys().into_iter().map(|key| {
            let field = ident(key, self.instance.span);
            quote_spanned!(site=> #field: ::core::option::Option::None)
        });
        let taken = branch.takes.iter().map(|&(node, read)| {
            let visit = Visit::new(self.drive, self.store, node, Place::Loop);
            let port = &visit.contract.reads[read];
            let (value, its_trait) = visit.value(read, port);
            let field = BranchStore::taken(node, read, site);
            let value = match port.mode.optional() {
                true => value,
                false => quote_spanned!(site=> ::core::option::Option::Some(#value)),
            };
            quote_spanned!(site=> #field: { #its_trait #value })
        });
        quote_spanned!(site=> #name { #(#keys,)* #(#taken,)* })
    }

    /// The struct of a branch's store, the `async fn` of the branch, and those of its nodes.
    fn branch_functions(&self, branch: &BranchStore, function: &Ident) -> TokenStream {
        let (rt, site, own) = (&self.rt, self.site, &branch.name);
        let visits: Vec<Visit<'_>> = branch
            .chain
            .iter()
            .map(|&node| Visit::new(self.drive, self.store, node, Place::Branch(branch)))
            .collect();
        let steps = visits.iter().map(|visit| {
            let (visited, variant) = (visit.visited(), node_variant(visit.instance));
            let node = &self.drive.names.node;
            quote_spanned! {site=>
                #rt::Hooks::entered(engine, scope, #node::#variant as u16)?;
                #visited;
                #rt::Hooks::finished(engine, scope, "default");
            }
        });
        let bounds = visits.iter().flat_map(Visit::bounds);
        let functions = visits.iter().map(Visit::expand);
        quote_spanned! {site=>
            #(#functions)*
            #[inline]
            async fn #function<__E>(
                &self, engine: &__E, scope: &#rt::Scope<'_>, base: &__State, own: &mut #own,
            ) -> ::core::result::Result<(), #rt::Failed>
            where
                __E: #rt::Hooks,
                #(#bounds,)*
            {
                let lane = scope.lane();
                let scope = &lane;
                #(#steps)*
                scope.leave();
                ::core::result::Result::Ok(())
            }
        }
    }
}

/// All of them at once, without allocating.
fn joined(rt: &TokenStream, site: Span, runs: &[TokenStream]) -> TokenStream {
    match runs {
        [] => quote_spanned!(site=> ::core::future::ready(::core::result::Result::Ok(()))),
        [run] => run.clone(),
        runs => {
            let (first, second) = runs.split_at(runs.len() / 2);
            let (first, second) = (joined(rt, site, first), joined(rt, site, second));
            quote_spanned!(site=> #rt::join(#first, #second))
        }
    }
}
