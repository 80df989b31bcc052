//! A fork: its branches run at the same time in the run's own task. Each sees the store as it stood
//! at the fork, has a small store of its own for what it writes, and is written back when all are
//! done.

use flow_spec::DEFAULT_ACTION;
use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote_spanned};

use crate::flow::items::node_variant;
use crate::names::ident;

use super::branch_store::BranchStore;
use super::{Place, Visit};

impl Visit<'_> {
    /// The body of a fork's `async fn`, and the functions of the nodes in its branches. The
    /// branches are polled where they are: a future that a combinator takes is moved once for
    /// each that it is in, which cost as much as all else.
    pub(super) fn fork(&self, branches: &[Vec<usize>]) -> (TokenStream, TokenStream) {
        let (rt, site) = (&self.rt, self.site);
        let stores: Vec<BranchStore> = branches
            .iter()
            .enumerate()
            .map(|(number, chain)| BranchStore::new(self.plan, self, number, chain))
            .collect();
        let owns: Vec<Ident> = (0..stores.len())
            .map(|number| format_ident!("own_{number}", span = site))
            .collect();
        let made = stores.iter().zip(&owns).map(|(store, own)| {
            let value = self.branch_store(store);
            quote_spanned!(site=> let mut #own = #value;)
        });
        let (limit, room) = match self.settings.concurrency {
            Some((_, limit)) => (
                quote_spanned!(site=> let limit = &#rt::Limit::new(#limit);),
                quote_spanned!(site=> let _room = limit.room().await;),
            ),
            None => (TokenStream::new(), TokenStream::new()),
        };
        let runs: Vec<Ident> = (0..stores.len())
            .map(|number| format_ident!("run_{number}", span = site))
            .collect();
        let pinned = stores.iter().zip(&owns).zip(&runs).rev();
        // In reverse, so that the first branch is the first to be dropped.
        let pinned = pinned.map(|((store, own), run)| {
            let steps = self.branch_steps(store);
            quote_spanned! {site=>
                let own = &mut #own;
                let mut #run = ::core::pin::pin!(async move {
                    #room
                    let branch = scope.branch();
                    let scope = &branch;
                    #steps
                    scope.leave();
                    ::core::result::Result::<(), #rt::Failed>::Ok(())
                });
            }
        });
        let polled = runs.iter().enumerate().map(|(number, run)| {
            quote_spanned! {site=>
                if !done[#number] {
                    match ::core::future::Future::poll(#run.as_mut(), cx) {
                        ::core::task::Poll::Ready(::core::result::Result::Ok(())) => done[#number] = true,
                        ::core::task::Poll::Ready(failed) => return ::core::task::Poll::Ready(failed),
                        ::core::task::Poll::Pending => all_done = false,
                    }
                }
            }
        });
        let count = runs.len();
        let joined = quote_spanned! {site=>
            #(#pinned)*
            let mut done = [false; #count];
            ::core::future::poll_fn(move |cx| {
                let mut all_done = true;
                #(#polled)*
                match all_done {
                    true => ::core::task::Poll::Ready(::core::result::Result::<(), #rt::Failed>::Ok(())),
                    false => ::core::task::Poll::Pending,
                }
            })
            .await
        };
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
        let more = stores.iter().flat_map(|store| {
            let visits = self.branch_visits(store);
            visits.iter().map(Visit::expand).collect::<Vec<_>>()
        });
        let more = more.collect();
        let body = quote_spanned! {site=>
            #(#made)*
            #limit
            let joined = {
                let base: &__State = state;
                #joined
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
            let visit = Visit::new(self.plan, self.store, node, Place::Loop);
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

    fn branch_visits<'b>(&'b self, branch: &'b BranchStore) -> Vec<Visit<'b>> {
        let visits = branch
            .chain
            .iter()
            .map(|&node| Visit::new(self.plan, self.store, node, Place::Branch(branch)));
        visits.collect()
    }

    /// The nodes of a branch, one after the other.
    fn branch_steps(&self, branch: &BranchStore) -> TokenStream {
        let (rt, site) = (&self.rt, self.site);
        let steps = self.branch_visits(branch).into_iter().map(|visit| {
            let visited = visit.visited(&TokenStream::new());
            let (node, variant) = (&self.plan.names.node, node_variant(visit.instance));
            quote_spanned! {site=>
                #rt::Hooks::node_started(engine, scope, #node::#variant as u16)?;
                #visited;
                #rt::Hooks::node_finished(engine, scope, "default");
            }
        });
        steps.collect()
    }
}
