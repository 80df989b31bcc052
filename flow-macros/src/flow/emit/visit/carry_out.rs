//! Runs a node: as a step of the engine or, if it is a flow, by its own loop, with the attempts
//! that the outer flow gives it. Handles failures.

use flow_spec::{ERROR_KEY, TIMEOUT_ACTION};
use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens as _, quote_spanned};

use crate::contract::Kind;
use crate::flow::emit::checks::is_surely_printed;
use crate::flow::plan::{Place, Read, ReadIndex, RouteIndex, Slot};
use crate::settings::GivenBy;

use super::Visit;
use super::reads::{Argument, bound};

impl Visit<'_> {
    /// Binds the outcome of a node that was run. If it failed, returns its route or the failure.
    pub(super) fn outcome(&self, outcome: TokenStream, carried_out: TokenStream) -> TokenStream {
        let (rt, site) = (&self.rt, self.site);
        let (times_out, error) = self.failure_routes();
        if !times_out && error.is_none() {
            return quote_spanned!(site=> let #outcome = #carried_out?;);
        }
        let timeout = times_out.then(|| {
            let route = self.route(TIMEOUT_ACTION);
            quote_spanned! {site=>
                if #rt::is_deadline(&__failed) {
                    return #rt::Ok(#route);
                }
            }
        });
        let error = match error {
            Some(route) => {
                let route = self.follow(route);
                let error = quote_spanned!(site=> #rt::node_error(__failed)?);
                let write = self.written_under(ERROR_KEY, &error);
                quote_spanned!(site=> #write return #rt::Ok(#route);)
            }
            None => quote_spanned!(site=> return #rt::Err(__failed);),
        };
        quote_spanned! {site=>
            let #outcome = match #carried_out {
                #rt::Ok(__outcome) => __outcome,
                #rt::Err(__failed) => { #timeout #error }
            };
        }
    }

    /// True if a missing answer has a route, and the route for a failure.
    pub(super) fn failure_routes(&self) -> (bool, Option<RouteIndex>) {
        let takes_timeout = match self.place {
            // There, an action is a route only for the last node.
            Place::Branch(_) => self
                .plan
                .actions(self.node)
                .any(|name| name == TIMEOUT_ACTION),
            _ => self.plan.route(self.node, TIMEOUT_ACTION).is_some(),
        };
        let times_out = self.contract.times_out() && takes_timeout;
        (times_out, self.plan.error_route(self.node, self.contract))
    }

    /// Runs a function, a type or a flow: an expression of its outcome or failure.
    pub(super) fn awaited(&self) -> TokenStream {
        let arguments = self.arguments();
        match self.contract.kind {
            Kind::Flow => self.flow(&arguments),
            Kind::Human => self.question(&arguments),
            Kind::Signal => self.signal(),
            Kind::Function | Kind::Type => {
                let step = self.step(&arguments);
                quote_spanned!(self.site=> #step.await)
            }
        }
    }

    /// A function or a type as a step of the engine: a future.
    pub(super) fn step(&self, arguments: &[Argument]) -> TokenStream {
        let Visit { rt, path, site, .. } = self;
        let receiver = self.instance.is_type().then(|| {
            let field = &self.instance.name;
            quote_spanned!(*site=> &self.#field,)
        });
        let (bindings, names) = bound(arguments, *site);
        let alone = self.contract.single
            && self.settings.retry.is_none()
            && self.settings.timeout.is_none();
        let function = Ident::new(if alone { "__once" } else { "__step" }, *site);
        let visit = self.contract.attempts.has_visit().then(|| {
            if alone {
                quote_spanned!(*site=> __scope,)
            } else {
                quote_spanned!(*site=> __visit,)
            }
        });
        let bounded = self.settings.timeout.is_some() && !self.contract.attempts.takes_policy();
        let made = (bounded || (self.contract.attempts.has_visit() && !alone))
            .then(|| self.made_visit(&quote_spanned!(*site=> <#path as #rt::Step>::POLICY)));
        let mut work = quote_spanned!(*site=> <#path>::#function(#receiver #visit #(#names),*));
        if bounded && self.settings.repeats() {
            work = quote_spanned!(*site=> async move {
                __visit.tried_within_timeout(|__visit| { let _ = __visit; #work }).await
            });
        } else if bounded {
            work = quote_spanned!(*site=> async move {
                let __work = ::core::pin::pin!(#work);
                __visit.within_timeout(__work).await
            });
        }
        let mut step = quote_spanned!(*site=> #rt::Engine::<#path>::step(__engine, __scope, #work));
        if self.undo_node().is_some() {
            step = quote_spanned!(*site=> #rt::under_way(__scope, #step));
        }
        quote_spanned!(*site=> {
            #made
            #bindings
            #step
        })
    }

    /// The visit, with the node's policy as changed by the flow.
    fn made_visit(&self, own: &TokenStream) -> TokenStream {
        let (rt, site) = (&self.rt, self.site);
        if self.settings.retry.is_none() && self.settings.timeout.is_none() {
            return quote_spanned!(site=> let __visit = #rt::Visit::new(__scope, #own););
        }
        let policy = self.settings.policy(
            &quote_spanned!(site=> *#own),
            GivenBy::Flow,
            self.emit.runtime,
        );
        quote_spanned! {site=>
            static __POLICY: #rt::Policy = #policy;
            let __visit = #rt::Visit::new(__scope, &__POLICY);
        }
    }

    /// Asks a person, within the time for an answer.
    fn question(&self, arguments: &[Argument]) -> TokenStream {
        let Visit { rt, path, site, .. } = self;
        let made = self.made_visit(&quote_spanned!(*site=> <#path as #rt::Step>::POLICY));
        let (bindings, names) = bound(arguments, *site);
        let names = names.into_iter().enumerate();
        let names = names.map(|(index, name)| self.printed(ReadIndex(index), name));
        quote_spanned!(*site=> {
            #made
            let __prompt = { #bindings <#path>::__prompt(#(#names),*) };
            #rt::Hooks::ask::<#path>(__engine, __visit, __prompt).await
        })
    }

    /// Waits for a signal, and takes it apart.
    fn signal(&self) -> TokenStream {
        let Visit { rt, path, site, .. } = self;
        let made = self.made_visit(&quote_spanned!(*site=> <#path as #rt::Step>::POLICY));
        quote_spanned!(*site=> {
            #made
            let __signal = #rt::Hooks::receive::<#path>(__engine, __visit).await;
            #rt::Result::map(__signal, <#path as #rt::Signal>::parts)
        })
    }

    /// A value that the prompt shows.
    fn printed(&self, read: ReadIndex, value: &Ident) -> TokenStream {
        let Read { key, slot, .. } = self.plan.read(self.place, self.node, read);
        if slot == Slot::Item || self.state.text(key).is_some_and(is_surely_printed) {
            return value.to_token_stream();
        }
        let (rt, ty) = (&self.rt, self.state.ty(key));
        quote_spanned!(self.site=> #rt::Prints::<#ty>::__shown(#value))
    }

    /// Returns true if the flow goes on when this node has failed: by an edge, or because a loop
    /// keeps the error as a value.
    fn handles_failure(&self) -> bool {
        let collects = match self.place {
            Place::Item { of, .. } => self.plan.instances[of].collects_errors(self.plan.flow),
            Place::Loop | Place::Branch(_) => false,
        };
        collects || self.plan.error_route(self.node, self.contract).is_some()
    }

    /// Runs a flow, and retries it as a whole if the outer flow says so.
    fn flow(&self, arguments: &[Argument]) -> TokenStream {
        let Visit { rt, path, site, .. } = self;
        let field = &self.instance.name;
        let (bindings, names) = bound(arguments, *site);
        let input = quote_spanned!(*site=> { #bindings <#path>::__input(#(#names),*) });
        let attempt = if self.settings.repeats() {
            quote_spanned!(*site=> #rt::Attempts::index(&__attempts))
        } else {
            quote_spanned!(*site=> 0)
        };
        let handles = self.handles_failure();
        let is_handled = if self.settings.repeats() {
            quote_spanned!(*site=> #rt::Attempts::is_handled(&__attempts, #handles))
        } else {
            quote_spanned!(*site=> #handles)
        };
        let drive = quote_spanned! {*site=>
            let __names = #rt::Hooks::names(__engine, #rt::Some(__scope), <#path as #rt::Described>::INFO);
            let __inner = __scope.nested(__names, #attempt);
            let __outcome: #rt::Result<<#path as #rt::Flow>::Output, #rt::Failed> =
                #rt::drive_inner(&self.#field, __engine, &__inner, __input, #is_handled).await;
            if let #rt::Err(__failed) = &__outcome {
                #rt::Hooks::flow_failed(__engine, &__inner, __failed);
            }
            __outcome
        };
        if self.settings.retry.is_none() && self.settings.timeout.is_none() {
            return quote_spanned!(*site=> { let __input = #input; #drive });
        }
        let base = quote_spanned!(*site=> #rt::Policy::DEFAULT);
        let policy = self
            .settings
            .policy(&base, GivenBy::Flow, self.emit.runtime);
        let attempt = quote_spanned!(*site=> {
            let __input = #input;
            let __attempt = ::core::pin::pin!(#rt::Some(async { #drive }));
            let __result = #rt::Attempts::attempt_flow(&__attempts, &self.#field, __engine, #is_handled, __attempt).await;
            __result
        });
        if !self.settings.repeats() {
            return quote_spanned!(*site=> {
                static __POLICY: #rt::Policy = #policy;
                let __attempts = #rt::Visit::new(__scope, &__POLICY).flow_attempts();
                #attempt
            });
        }
        quote_spanned!(*site=> {
            static __POLICY: #rt::Policy = #policy;
            let mut __attempts = #rt::Visit::new(__scope, &__POLICY).flow_attempts();
            loop {
                match #attempt {
                    #rt::Ok(__output) => break #rt::Ok(__output),
                    #rt::Err(__failed) => {
                        if let #rt::Err(__failed) = #rt::Attempts::flow_again(&mut __attempts, __engine, __failed).await {
                            break #rt::Err(__failed);
                        }
                    }
                }
            }
        })
    }
}
