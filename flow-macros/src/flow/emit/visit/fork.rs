//! A fork: its branches run concurrently in the run's own task. Each sees the state at the fork,
//! and has a small state for its own writes, which are written back when all branches are done.

use flow_spec::DEFAULT_ACTION;
use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens as _, format_ident, quote_spanned};

use crate::flow::items::node_variant;
use crate::flow::plan::{BranchPlan, Place};
use crate::names::ident;

use super::Visit;
use super::branch_state::taken_field;

/// A branch, and its variables in the expansion.
pub(super) struct Branch<'a> {
    pub(super) plan: &'a BranchPlan<'a>,
    /// Its state.
    pub(super) own: Ident,
    /// Its future.
    pub(super) run: Ident,
}

impl Visit<'_> {
    /// The body of a fork's `async fn`, and the functions of the nodes in its branches.
    pub(super) fn fork(&self) -> (TokenStream, TokenStream) {
        let (rt, site) = (&self.rt, self.site);
        let branches = self.branches();
        let made = self.branch_states(&branches);
        let limit = self
            .settings
            .concurrency
            .map(|(_, limit)| quote_spanned!(site=> let __limit = &#rt::Limit::new(#limit);));
        let joined = self.joined(&branches);
        let outcome = self.outcome(quote_spanned!(site=> _), quote_spanned!(site=> __joined));
        let writes = branches.iter().map(|branch| self.write_back(branch));
        let route = self.route(DEFAULT_ACTION);
        let body = quote_spanned! {site=>
            #made
            #limit
            let __joined = {
                let __base: &__State = __state;
                #joined
            };
            if let #rt::Err(__failed) = &__joined {
                #rt::Hooks::composite_failed(__engine, __scope, __failed);
            }
            #outcome
            #(#writes)*
            #rt::Ok(#route)
        };
        (body, self.branch_functions(&branches))
    }

    /// Defines the states of the branches.
    pub(super) fn branch_states(&self, branches: &[Branch<'_>]) -> TokenStream {
        let made = branches.iter().map(|branch| {
            let (own, value) = (&branch.own, self.branch_state(branch.plan));
            quote_spanned!(self.site=> let mut #own = #value;)
        });
        made.collect()
    }

    /// The functions of the nodes in the branches.
    pub(super) fn branch_functions(&self, branches: &[Branch<'_>]) -> TokenStream {
        let functions = branches.iter().flat_map(|branch| {
            let visits = self.branch_visits(branch.plan);
            visits.iter().map(Visit::expand).collect::<Vec<_>>()
        });
        functions.collect()
    }

    pub(super) fn branches(&self) -> Vec<Branch<'_>> {
        let branches = self.plan.branches(self.node).iter();
        let named = branches.map(|plan| Branch {
            plan,
            own: format_ident!("__own_{}", plan.number, span = self.site),
            run: format_ident!("__run_{}", plan.number, span = self.site),
        });
        named.collect()
    }

    /// Runs the branches concurrently. They are polled in place: combinators would move each future
    /// repeatedly, which cost as much as everything else.
    fn joined(&self, branches: &[Branch<'_>]) -> TokenStream {
        let (rt, site) = (&self.rt, self.site);
        let room = self
            .settings
            .concurrency
            .map(|_| quote_spanned!(site=> let __room = __limit.room().await;));
        let room = room.unwrap_or_default();
        let done = (quote_spanned!(site=> ()), quote_spanned!(site=> ()));
        let pinned = self.pinned(branches, &room, |_| done.clone());
        let may_undo = self.may_undo_in(branches);
        let polled = branches.iter().enumerate().map(|(number, Branch { run, .. })| {
            let finished = may_undo.then(|| quote_spanned!(site=> __done[#number] = true;));
            quote_spanned! {site=>
                if !__done[#number] {
                    match ::core::future::Future::poll(::core::pin::Pin::as_mut(&mut #run), __cx) {
                        ::core::task::Poll::Ready(#rt::Ok(())) => __done[#number] = true,
                        ::core::task::Poll::Ready(__failed) => {
                            #finished
                            return ::core::task::Poll::Ready(__failed);
                        }
                        ::core::task::Poll::Pending => __all_done = false,
                    }
                }
            }
        });
        let count = branches.len();
        // Borrowed, if what was under way has to be finished afterwards.
        let moved = (!may_undo).then(|| quote_spanned!(site=> move));
        let joined = quote_spanned! {site=>
            ::core::future::poll_fn(#moved |__cx| {
                let mut __all_done = true;
                #(#polled)*
                if __all_done { ::core::task::Poll::Ready(#rt::Result::<(), #rt::Failed>::Ok(())) } else { ::core::task::Poll::Pending }
            })
            .await
        };
        let joined = if may_undo {
            let finish = self.finish_branches(branches);
            quote_spanned! {site=>
                let __joined = #joined;
                if #rt::Result::is_err(&__joined) { #finish }
                __joined
            }
        } else {
            joined
        };
        quote_spanned! {site=>
            #pinned
            let mut __done = [false; #count];
            #joined
        }
    }

    /// The futures of the branches. `done` is the type of what each returns, and its value.
    pub(super) fn pinned(
        &self,
        branches: &[Branch<'_>],
        room: &TokenStream,
        done: impl Fn(&BranchPlan<'_>) -> (TokenStream, TokenStream),
    ) -> TokenStream {
        let (rt, site) = (&self.rt, self.site);
        // In reverse, so that the first branch is the first to be dropped.
        let pinned = branches.iter().rev().map(|Branch { plan, own, run }| {
            let (steps, (ty, value)) = (self.branch_steps(plan), done(plan));
            quote_spanned! {site=>
                let __own = &mut #own;
                let mut #run = ::core::pin::pin!(async move {
                    #room
                    let __branch = __scope.branch();
                    let __scope = &__branch;
                    #steps
                    __scope.leave();
                    #rt::Result::<#ty, #rt::Failed>::Ok(#value)
                });
            }
        });
        pinned.collect()
    }

    /// Writes the values of a branch to the state of the flow.
    pub(super) fn write_back(&self, Branch { plan, own, .. }: &Branch<'_>) -> TokenStream {
        let rt = &self.rt;
        let replaced = plan.keys().into_iter().filter(|key| plan.replaces(key));
        let keys = replaced.map(|key| {
            let field = ident(key, self.instance.span);
            quote_spanned! {self.site=>
                if let #rt::Some(__value) = #own.#field {
                    __state.#field = #rt::Some(__value);
                }
            }
        });
        keys.chain([self.add_at_join(plan, own)]).collect()
    }

    /// The value of a branch's state at the fork.
    fn branch_state(&self, branch: &BranchPlan<'_>) -> TokenStream {
        let (rt, site) = (&self.rt, self.site);
        let name = self.branch_struct(branch);
        let keys = branch.keys().into_iter().map(|key| {
            let field = ident(key, self.instance.span);
            quote_spanned!(site=> #field: #rt::None)
        });
        let taken = branch.takes.iter().map(|&by| {
            let visit = Visit::new(self.emit, by.node, Place::Loop);
            let port = &visit.contract.reads[by.read.0];
            let value = visit.value(by.read, port);
            let field = taken_field(by, site);
            let value = if port.mode.optional() {
                value
            } else {
                quote_spanned!(site=> #rt::Some(#value))
            };
            quote_spanned!(site=> #field: #value)
        });
        let added = self.added_fields(branch).into_iter();
        let added = added.map(|(field, _)| quote_spanned!(site=> #field: #rt::None));
        quote_spanned!(site=> #name { #(#keys,)* #(#taken,)* #(#added,)* })
    }

    pub(super) fn branch_visits<'b>(&'b self, branch: &'b BranchPlan<'b>) -> Vec<Visit<'b>> {
        let visits = branch
            .chain
            .iter()
            .map(|&node| Visit::new(self.emit, node, Place::Branch(branch)));
        visits.collect()
    }

    /// The nodes of a branch, one after the other. If the last one chooses, `__action` is the index
    /// of the action of the race.
    fn branch_steps(&self, branch: &BranchPlan<'_>) -> TokenStream {
        let (rt, site) = (&self.rt, self.site);
        let steps = self.branch_visits(branch).into_iter().map(|visit| {
            let visited = visit.visited(&TokenStream::new());
            let (node, variant) = (&self.emit.names.node, node_variant(visit.instance));
            let (bound, action) = if visit.chooses() {
                let names = self.plan.actions(self.node);
                (
                    Some(quote_spanned!(site=> let __action: ::core::primitive::usize =)),
                    quote_spanned!(site=> [#(#names),*][__action]),
                )
            } else {
                (None, DEFAULT_ACTION.to_token_stream())
            };
            let kept = visit.kept_in_branch();
            quote_spanned! {site=>
                #rt::Hooks::node_started(__engine, __scope, #node::#variant as ::core::primitive::u16)?;
                #bound #visited;
                #kept
                #rt::Hooks::node_finished(__engine, __scope, #action);
            }
        });
        steps.collect()
    }
}
