//! One node in the loop, in a branch or in a loop over items: passes its reads to it,
//! runs it, and writes its results.
//!
//! Generated code knows the engine as `engine`, the position of the run as `scope`, and the flow's
//! state as `state`. In a branch, the flow's state is `base`, and `own` has the branch's own
//! writes.

mod additions;
mod branch_state;
mod carry_out;
mod checks;
mod conditions;
mod each;
mod fork;
mod mappings;
mod race;
mod reads;
mod undo;
mod writes;

use flow_spec::{DEFAULT_ACTION, NodeId};
use proc_macro2::{Ident, Span, TokenStream};
use quote::quote_spanned;

use crate::contract::{Contract, Kind};
use crate::names::{here, hidden, plain};
use crate::runtime::RuntimePath;
use crate::settings::{Settings, duration_tokens};

use crate::flow::emit::context::Emit;
use crate::flow::emit::state::State;
use crate::flow::instances::{Instance, InstanceKind};
use crate::flow::mapped::mapping;
use crate::flow::plan::{Place, Plan, RouteIndex};
use crate::flow::syntax::Mapping;
use crate::flow::types::node_type;

pub(super) use branch_state::structs;

/// One node, with the data for its expansion.
pub(super) struct Visit<'a> {
    pub(super) emit: &'a Emit<'a>,
    pub(super) plan: &'a Plan<'a>,
    pub(super) state: &'a State,
    pub(super) node: NodeId,
    pub(super) instance: &'a Instance,
    pub(super) contract: &'a Contract,
    pub(super) settings: Settings,
    /// The place at which all of its code is shown.
    pub(super) site: Span,
    pub(super) rt: RuntimePath<'a>,
    /// The type of a function, a type or a flow.
    pub(super) path: TokenStream,
    mapping: &'a [Mapping],
    pub(super) place: Place<'a>,
}

impl<'a> Visit<'a> {
    pub(super) fn new(emit: &'a Emit<'a>, node: NodeId, place: Place<'a>) -> Self {
        let (plan, state) = (emit.plan, &emit.state);
        let instance = &plan.instances[node];
        let site = here(instance.span);
        Visit {
            emit,
            plan,
            state,
            node,
            instance,
            contract: &plan.resolved.contracts[node],
            settings: plan.settings(node, place),
            site,
            rt: emit.runtime.hidden_at(site),
            path: node_type(plan.flow, instance),
            mapping: mapping(plan.flow, instance),
            place,
        }
    }

    /// The bounds on the engine for this node.
    pub(super) fn bounds(&self) -> Vec<TokenStream> {
        let Visit { rt, path, .. } = self;
        let of = |node: NodeId| Visit::new(self.emit, node, self.place).bounds();
        let keeps = || quote_spanned!(self.site=> __E: #rt::StateHooks<__State>);
        match &self.instance.kind {
            InstanceKind::Node(_) if self.contract.kind == Kind::Flow => {
                vec![quote_spanned!(self.site=> #path: #rt::Drive<__E>)]
            }
            InstanceKind::Node(_) if self.contract.kind.is_external() => Vec::new(),
            InstanceKind::Node(_) => {
                let engine = quote_spanned!(self.site=> __E: #rt::Engine<#path>);
                let undoable = self.undo_node().map(|_| keeps());
                [engine].into_iter().chain(undoable).collect()
            }
            InstanceKind::Fork(_) | InstanceKind::Race(_) => {
                self.instance.kind.inner().flat_map(of).collect()
            }
            InstanceKind::Each { over, .. } => {
                let (site, collection) = (here(over.span()), self.state.ty(&plain(over)));
                let order = quote_spanned! {site=>
                    <__E as #rt::Hooks>::Order: #rt::OrderOf<#collection>
                };
                let spread = self.settings.spread.map(|_| keeps());
                let body = of(self.plan.instances.body(self.node));
                spread.into_iter().chain([order]).chain(body).collect()
            }
            InstanceKind::Branch(_)
            | InstanceKind::Wait(_)
            | InstanceKind::Undo
            | InstanceKind::Commit => Vec::new(),
        }
    }

    /// The bounds on the engine for the functions with this node. The step `undo` also requires that
    /// the flow can be driven. As a bound on driving the flow, that would refer to itself.
    pub(super) fn bounds_of_function(&self) -> Vec<TokenStream> {
        let mut bounds = self.bounds();
        if let InstanceKind::Undo = self.instance.kind {
            let (rt, name) = (&self.rt, &self.emit.flow.name);
            bounds.push(quote_spanned!(self.site=> #name: #rt::Drive<__E>));
        }
        bounds
    }

    /// The name of its `async fn`.
    pub(super) fn function(&self) -> Ident {
        hidden("visit", &plain(&self.instance.name), self.instance.span)
    }

    /// Returns true if its failure ends the run or the branch. Then the loop or the branch itself
    /// awaits it: an `async fn` around it would have another state, which costs as much as the rest
    /// of the loop.
    fn is_plain(&self) -> bool {
        let bounded = self.settings.retry.is_some() || self.settings.timeout.is_some();
        let bounded_here = match self.contract.kind {
            Kind::Function | Kind::Type => {
                self.settings.timeout.is_some() && !self.contract.attempts.takes_policy()
            }
            Kind::Flow => bounded,
            Kind::Human | Kind::Signal => true,
        };
        !matches!(self.place, Place::Item { .. })
            && !bounded_here
            && matches!(self.instance.kind, InstanceKind::Node(_))
            && self.failure_routes() == (false, None)
    }

    /// Returns true if the visit returns the index of its route. In a branch there is only one way,
    /// unless its last node decides the action of a race, and in the loop a node with a single
    /// route has no choice: without its index, rustc has less to check for each node.
    pub(super) fn chooses(&self) -> bool {
        if let Place::Branch(branch) = self.place {
            return branch.chain.last() == Some(&self.node) && self.plan.decides(branch);
        }
        !(self.is_plain() && self.plan.routes(self.node).len() == 1)
    }

    /// The number that a visit returns if it takes this action: the index of its route or, at the
    /// end of a branch, that of the action of the race. `None` if there is no such route.
    fn way(&self, action: &str) -> Option<usize> {
        match self.place {
            Place::Branch(branch) => self.plan.action_of_race(branch, action),
            _ => (self.plan.route(self.node, action)).map(|RouteIndex(route)| route),
        }
    }

    /// The code of the visit in the loop or the branch. In the loop, it is an expression of the
    /// index of the route that the node took, if it [chooses](Self::chooses) one. `state` is a
    /// mutable reference to the flow's state.
    pub(super) fn visited(&self, state: &TokenStream) -> TokenStream {
        let (rt, site) = (&self.rt, self.site);
        let function = self.function();
        if self.is_plain() {
            let carried_out = self.awaited();
            let (outcome, route) = self.written();
            // This is as long as `?` to read, but faster to compile: there is one for each node.
            return quote_spanned! {site=>
                match #carried_out {
                    #rt::Ok(#outcome) => #route
                    #rt::Err(__failed) => return #rt::Err(__failed),
                }
            };
        }
        let state = match self.place {
            Place::Branch(_) => quote_spanned!(site=> __base, __own),
            _ => state.clone(),
        };
        quote_spanned!(site=> self.#function(__engine, __scope, #state).await?)
    }

    /// Its `async fn`, and those that it calls. In the loop, the `async fn` returns the index of
    /// the route that the node took. Empty for a node that the loop itself awaits.
    pub(super) fn expand(&self) -> TokenStream {
        if self.is_plain() {
            return TokenStream::new();
        }
        let rt = &self.rt;
        let name = self.function();
        let (body, more) = self.body();
        let bounds = self.bounds_of_function();
        let (state, result) = match self.place {
            Place::Branch(branch) => {
                let own = self.branch_struct(branch);
                let state = quote_spanned!(self.site=> __base: &__State, __own: &mut #own,);
                let result = if self.chooses() {
                    quote_spanned!(self.site=> ::core::primitive::usize)
                } else {
                    quote_spanned!(self.site=> ())
                };
                (state, result)
            }
            _ => (
                quote_spanned!(self.site=> __state: &mut __State,),
                quote_spanned!(self.site=> ::core::primitive::usize),
            ),
        };
        quote_spanned! {self.site=>
            #more
            #[inline]
            async fn #name<__E>(
                &self, __engine: &__E, __scope: &#rt::Scope<'_>, #state
            ) -> #rt::Result<#result, #rt::Failed>
            where
                __E: #rt::Hooks,
                #(#bounds,)*
            {
                #body
            }
        }
    }

    /// The body of its `async fn`, and further functions.
    fn body(&self) -> (TokenStream, TokenStream) {
        let (rt, site) = (&self.rt, self.site);
        match &self.instance.kind {
            InstanceKind::Node(_) => {
                let (outcome, route) = self.written();
                let outcome = self.outcome(outcome, self.awaited());
                let body = quote_spanned! {site=>
                    #outcome
                    #rt::Ok(#route)
                };
                (body, TokenStream::new())
            }
            InstanceKind::Fork(_) => self.fork(),
            InstanceKind::Race(_) => self.race(),
            InstanceKind::Each { .. } => self.each(self.plan.instances.body(self.node)),
            InstanceKind::Branch(index) => (self.branch(*index), TokenStream::new()),
            InstanceKind::Wait(duration) => {
                let duration = duration_tokens(*duration);
                let route = self.route(DEFAULT_ACTION);
                let body = quote_spanned! {site=>
                    #rt::Hooks::wait(__engine, __scope, #duration).await?;
                    #rt::Ok(#route)
                };
                (body, TokenStream::new())
            }
            InstanceKind::Undo => {
                let route = self.route(DEFAULT_ACTION);
                let body = quote_spanned! {site=>
                    #rt::undo_visits(self, __engine, __scope).await?;
                    #rt::Ok(#route)
                };
                (body, TokenStream::new())
            }
            InstanceKind::Commit => {
                let route = self.route(DEFAULT_ACTION);
                let body = quote_spanned! {site=>
                    #rt::commit_visits(__engine, __scope).await;
                    #rt::Ok(#route)
                };
                (body, TokenStream::new())
            }
        }
    }
}
