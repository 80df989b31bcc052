//! A race: its branches run concurrently in the run's own task, as those of a fork do. The first one
//! that is done decides the action. The others are dropped, with what they wrote.

use flow_spec::DEFAULT_ACTION;
use proc_macro2::TokenStream;
use quote::quote_spanned;

use super::Visit;
use super::fork::Branch;
use crate::flow::items::node_variant;

impl Visit<'_> {
    /// The body of a race's `async fn`, and the functions of the nodes in its branches.
    pub(super) fn race(&self) -> (TokenStream, TokenStream) {
        let (rt, site) = (&self.rt, self.site);
        let branches = self.branches();
        let made = self.branch_states(&branches);
        let raced = self.raced(&branches);
        let outcome = self.outcome(
            quote_spanned!(site=> (__branch, __action)),
            quote_spanned!(site=> __raced),
        );
        let writes = branches.iter().enumerate().map(|(number, branch)| {
            let write = self.write_back(branch);
            quote_spanned!(site=> #number => { #write })
        });
        let names: Vec<&str> = self.plan.actions(self.node).collect();
        let routes = names.iter().enumerate().map(|(index, name)| {
            let route = self.route(name);
            quote_spanned!(site=> #index => #route,)
        });
        let body = quote_spanned! {site=>
            #made
            let __raced = {
                let __base: &__State = __state;
                #raced
            };
            if let #rt::Err(__failed) = &__raced {
                #rt::Hooks::composite_failed(__engine, __scope, __failed);
            }
            #outcome
            #rt::Hooks::race_decided(__engine, __scope);
            let __branch: ::core::primitive::usize = __branch;
            match __branch { #(#writes)* _ => {} }
            let __action: ::core::primitive::usize = __action;
            #rt::Ok(match __action {
                #(#routes)*
                _ => ::core::unreachable!("a branch took an action that the race does not have"),
            })
        };
        (body, self.branch_functions(&branches))
    }

    /// Runs the branches concurrently, until one of them is done. In each turn they are polled in
    /// the order written, so the earlier one of two that are done in the same turn decides. If an
    /// earlier run has recorded which one was the first, only that one runs.
    fn raced(&self, branches: &[Branch<'_>]) -> TokenStream {
        let (rt, site) = (&self.rt, self.site);
        let pinned = self.pinned(branches, &TokenStream::new(), |branch| {
            let action = if self.plan.decides(branch) {
                quote_spanned!(site=> __action)
            } else {
                let action = self.plan.action_of_race(branch, DEFAULT_ACTION);
                let action = action.unwrap_or_else(|| unreachable!("the race has no such action"));
                quote_spanned!(site=> #action)
            };
            (quote_spanned!(site=> ::core::primitive::usize), action)
        });
        let node = &self.emit.names.node;
        let begun = branches.iter().map(|Branch { plan, .. }| {
            let nodes = plan.chain.iter();
            let nodes = nodes.map(|&id| node_variant(&self.plan.instances[id]));
            let action = if self.plan.decides(plan) {
                quote_spanned!(site=> #rt::None)
            } else {
                let action = self.plan.action_of_race(plan, DEFAULT_ACTION);
                let action = action.and_then(|index| self.plan.actions(self.node).nth(index));
                quote_spanned!(site=> #rt::Some(#action))
            };
            quote_spanned! {site=>
                #rt::RaceBranch { nodes: &[#(#node::#nodes as ::core::primitive::u16),*], action: #action }
            }
        });
        let may_undo = self.may_undo_in(branches);
        let polled = branches.iter().enumerate().map(|(number, Branch { run, .. })| {
            let finished = may_undo.then(|| quote_spanned!(site=> __done[#number] = true;));
            quote_spanned! {site=>
                if #rt::Option::is_none_or(__recorded, |__branch| __branch == #number)
                    && let ::core::task::Poll::Ready(__ended) =
                        ::core::future::Future::poll(::core::pin::Pin::as_mut(&mut #run), __cx)
                {
                    #finished
                    return ::core::task::Poll::Ready(#rt::Result::map(__ended, |__action| (#number, __action)));
                }
            }
        });
        let moved = (!may_undo).then(|| quote_spanned!(site=> move));
        let raced = quote_spanned! {site=>
            ::core::future::poll_fn(#moved |__cx| {
                #(#polled)*
                ::core::task::Poll::Pending
            })
            .await
        };
        let raced = if may_undo {
            let (count, finish) = (branches.len(), self.finish_branches(branches));
            quote_spanned! {site=>
                let mut __done = [false; #count];
                let __raced = #raced;
                #finish
                __raced
            }
        } else {
            raced
        };
        quote_spanned! {site=>
            let __recorded = #rt::Hooks::race_started(__engine, __scope, &[#(#begun),*]);
            #pinned
            #raced
        }
    }
}
