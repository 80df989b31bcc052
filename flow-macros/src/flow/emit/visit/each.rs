//! A loop over items: its body runs once for each, one after the other or several at a time. The
//! results are in the order of the items.

use std::collections::BTreeSet;

use flow_spec::{DEFAULT_ACTION, NodeId};
use proc_macro2::{Group, Ident, Span, TokenStream, TokenTree};
use quote::quote_spanned;

use crate::contract::Kind;
use crate::flow::emit::results::{item_type, results_type};
use crate::flow::emit::state::spread_results;
use crate::flow::instances::InstanceKind;
use crate::flow::plan::{Place, ReadIndex};
use crate::names::{here, hidden, ident, plain};

use super::Visit;

impl Visit<'_> {
    /// The body of a loop's `async fn`, and the function that runs it for one item.
    pub(super) fn each(&self, body: NodeId) -> (TokenStream, TokenStream) {
        let (rt, site) = (&self.rt, self.site);
        let function = hidden("item", &plain(&self.instance.name), self.instance.span);
        let collects = self.settings.collect_errors.is_some();
        let keeps = !self.contract.writes.is_empty();
        let kept = keeps.then(|| {
            if collects {
                quote_spanned!(site=> #rt::collect(__result))
            } else {
                quote_spanned!(site=> __result)
            }
        });
        let collection = self.value(ReadIndex(0), &self.contract.reads[0]);
        let state = self.state_arguments();
        let run = quote_spanned!(site=> self.#function(__engine, __scope, #state __index, __item));
        let each = match self.settings.concurrency {
            None => self.one_by_one(&run, kept.as_ref()),
            Some((_, limit)) => self.at_once(limit, &run, kept.as_ref()),
        };
        let shared = match self.place {
            Place::Branch(_) => quote_spanned!(site=> let __own = &*__own;),
            _ => quote_spanned!(site=> let __state = &*__state;),
        };
        let carried_out = quote_spanned! {site=> {
            let __results = async {
                #shared
                let __items = #rt::items(#collection);
                #rt::loop_started(__engine, __scope, &__items);
                #rt::Result::<_, #rt::Failed>::Ok({ #each })
            }
            .await;
            if let #rt::Err(__failed) = &__results {
                #rt::Hooks::composite_failed(__engine, __scope, __failed);
            }
            __results
        }};
        let carried_out = match self.settings.spread {
            Some((span, items)) => self.spread(here(span), items, keeps, &carried_out),
            None => carried_out,
        };
        let outcome = self.outcome(quote_spanned!(site=> __outcome), carried_out);
        let added = self.added();
        let write = keeps.then(|| {
            if let Some(added) = added.first() {
                return self.add(added, &quote_spanned!(site=> __outcome));
            }
            let (key, outcome) = (plain(&self.instance.name), quote_spanned!(site=> __outcome));
            self.write(&key, outcome, "", || {
                results_type(self.plan, self.emit.runtime, self.node)
            })
        });
        let route = self.route(DEFAULT_ACTION);
        let code = quote_spanned! {site=>
            #outcome
            #write
            #rt::Ok(#route)
        };
        (code, self.item_function(&function, body))
    }

    /// An expression of the results of a loop whose items an engine may run elsewhere, in parts.
    /// `carried_out` runs them here.
    fn spread(&self, site: Span, each: u32, keeps: bool, carried_out: &TokenStream) -> TokenStream {
        let rt = &self.rt;
        let graph = self.plan.resolved.graph.graph();
        let reads = &graph.node(self.node).reads;
        let collection = self.value(ReadIndex(0), &self.contract.reads[0]);
        // An unsuitable collection is reported at its name in the loop.
        let InstanceKind::Each { over, .. } = &self.instance.kind else {
            return carried_out.clone();
        };
        let sequence = shown_at(self.state.ty(&plain(over)), over.span());
        let of_body = &graph.node(self.plan.instances.body(self.node)).reads;
        let (over, all) = (&reads[0].key, reads.iter().chain(of_body));
        let keys: BTreeSet<&str> = all
            .map(|read| read.key.as_str())
            .filter(|key| self.state.has(key))
            .collect();
        let keys = keys.into_iter();
        let added = spread_results(self.plan.flow, self.instance, self.contract);
        let name = added.unwrap_or_else(|| plain(&self.instance.name));
        let fields = self.state.fields().map(|(key, _)| {
            if keeps && plain(key) == name {
                quote_spanned!(site=> #key: #rt::Some(__results))
            } else {
                quote_spanned!(site=> #key: #rt::None)
            }
        });
        let (found, results) = if keeps {
            let key = ident(&name, self.instance.span);
            let found =
                quote_spanned!(site=> #rt::spread_results(__engine, __scope, __results.#key).await);
            (found, quote_spanned!(site=> #rt::Some(#name)))
        } else {
            (
                quote_spanned!(site=> #rt::Ok(())),
                quote_spanned!(site=> #rt::None),
            )
        };
        let bound = if keeps {
            quote_spanned!(site=> __results)
        } else {
            quote_spanned!(site=> ())
        };
        quote_spanned! {site=> {
            let __spread = #rt::Spread {
                over: #over,
                reads: &[#(#keys),*],
                results: #results,
                items: <#sequence as #rt::Sequence>::__items(#collection),
                each: #each,
            };
            let __results = {
                let __state = &*__state;
                let __here = async { #carried_out.map(|#bound| __State { #(#fields,)* }) };
                #rt::StateHooks::spread(__engine, __scope, __spread, __state, __here).await
            };
            match __results {
                #rt::Ok(__results) => #found,
                #rt::Err(__failed) => #rt::Err(__failed),
            }
        }}
    }

    /// An expression of the results, one item after the other. `run` runs one item, `kept` is the
    /// part of its `result` that is kept.
    fn one_by_one(&self, run: &TokenStream, kept: Option<&TokenStream>) -> TokenStream {
        let (rt, site) = (&self.rt, self.site);
        let (made, keep) = match kept {
            Some(kept) => (
                quote_spanned!(site=> ::std::vec::Vec::with_capacity(#rt::count(&__items))),
                quote_spanned!(site=> ::std::vec::Vec::push(&mut __results, #kept?);),
            ),
            None => (quote_spanned!(site=> ()), quote_spanned!(site=> __result?;)),
        };
        quote_spanned! {site=>
            let mut __results = #made;
            let mut __index = 0u32;
            for __item in __items {
                let __result = #run.await;
                #keep
                __index += 1;
            }
            __results
        }
    }

    /// Runs at most `limit` items at a time.
    fn at_once(&self, limit: usize, run: &TokenStream, kept: Option<&TokenStream>) -> TokenStream {
        let (rt, site) = (&self.rt, self.site);
        let may_undo = self.plan.may_undo_in([self.node].into_iter());
        let value = |result: &TokenStream| {
            if !may_undo {
                return quote_spanned!(site=> #result?);
            }
            quote_spanned! {site=>
                match #result {
                    #rt::Ok(__value) => __value,
                    #rt::Err(__failed) => {
                        #rt::AtOnce::finish(&mut __running, __scope).await;
                        return #rt::Err(__failed);
                    }
                }
            }
        };
        let kept = kept.map(value);
        let (made, keep, results) = match kept {
            Some(kept) => (
                quote_spanned!(site=> #rt::InOrder::with_capacity(#rt::count(&__items))),
                quote_spanned!(site=> #rt::InOrder::put(&mut __results, __index, #kept);),
                quote_spanned!(site=> __results.into_vec()),
            ),
            None => (
                quote_spanned!(site=> ()),
                {
                    let value = value(&quote_spanned!(site=> __result));
                    quote_spanned!(site=> #value;)
                },
                quote_spanned!(site=> __results),
            ),
        };
        quote_spanned! {site=>
            let mut __results = #made;
            let mut __items = __items;
            let mut __index = 0u32;
            let mut __running = #rt::AtOnce::new(#limit);
            loop {
                while #rt::AtOnce::has_room(&__running) {
                    let #rt::Some(__item) = ::core::iter::Iterator::next(&mut __items) else { break };
                    #rt::AtOnce::push(&mut __running, #rt::numbered(__index, #run));
                    __index += 1;
                }
                let #rt::Some((__index, __result)) = #rt::AtOnce::next_result(&mut __running).await else { break };
                #keep
            }
            #results
        }
    }

    /// The state, as arguments of the function for one item.
    fn state_arguments(&self) -> TokenStream {
        match self.place {
            Place::Branch(_) => quote_spanned!(self.site=> __base, __own,),
            _ => quote_spanned!(self.site=> __state,),
        }
    }

    /// The visit of the body for one item.
    pub(super) fn body_visit(&self, body: NodeId) -> Visit<'_> {
        let branch = match self.place {
            Place::Branch(branch) => Some(branch),
            _ => None,
        };
        let place = Place::Item {
            branch,
            of: self.node,
        };
        Visit::new(self.emit, body, place)
    }

    /// The `async fn` that runs the body for one item.
    fn item_function(&self, function: &Ident, body: NodeId) -> TokenStream {
        let (rt, site) = (&self.rt, self.site);
        let branch = match self.place {
            Place::Branch(branch) => Some(branch),
            _ => None,
        };
        let first = self.settings.spread.map(|_| {
            quote_spanned!(site=> let __index = #rt::Hooks::first_item(__engine, __scope).saturating_add(__index);)
        });
        let body_visit = self.body_visit(body);
        let carried_out = body_visit.awaited();
        let bounds = body_visit.bounds();
        let result = item_type(self.plan, self.emit.runtime, body);
        let (value, action) = (body_visit.item_value(), body_visit.item_action());
        let state = match branch {
            Some(branch) => {
                let own = self.branch_struct(branch);
                quote_spanned!(site=> __base: &__State, __own: &#own,)
            }
            None => quote_spanned!(site=> __state: &__State,),
        };
        let over = ident(
            &self.plan.resolved.graph.graph().node(self.node).reads[0].key,
            self.instance.span,
        );
        let collection = self.state.ty(&plain(&over));
        quote_spanned! {site=>
            async fn #function<'i, __E>(
                &self,
                __engine: &__E,
                __scope: &#rt::Scope<'_>,
                #state
                __index: ::core::primitive::u32,
                __item: <&'i #collection as ::core::iter::IntoIterator>::Item,
            ) -> #rt::Result<#result, #rt::Failed>
            where
                __E: #rt::Hooks,
                #(#bounds,)*
            {
                #first
                let __item_scope = __scope.item(__index);
                let __scope = &__item_scope;
                #rt::Hooks::item_started(__engine, __scope);
                let __outcome = #carried_out?;
                #rt::Hooks::node_finished(__engine, __scope, #action);
                __scope.leave();
                #rt::Ok(#value)
            }
        }
    }

    /// The value that a loop collects from `outcome`.
    fn item_value(&self) -> TokenStream {
        let Visit { rt, path, site, .. } = self;
        match (self.contract.returns_nothing(), self.contract.kind) {
            (true, _) => quote_spanned!(*site=> ()),
            (false, Kind::Flow) => {
                quote_spanned!(*site=> <#path as #rt::Collected>::collected(__outcome))
            }
            (false, _) => quote_spanned!(*site=> __outcome),
        }
    }

    /// The action in `outcome`, or the end of a flow.
    fn item_action(&self) -> TokenStream {
        let (rt, site, contract) = (&self.rt, self.site, self.contract);
        match (contract.kind, &contract.actions[..], contract.writes.len()) {
            (Kind::Flow, ..) => quote_spanned!(site=> __outcome.end.as_str()),
            (_, [], _) => quote_spanned!(site=> "default"),
            (_, _, 0) => quote_spanned!(site=> #rt::Action::action(&__outcome)),
            (_, _, writes) => {
                let last = syn::Index::from(writes);
                quote_spanned!(site=> #rt::Action::action(&__outcome.#last))
            }
        }
    }
}

/// These tokens with their resolution, shown at one place.
fn shown_at(tokens: TokenStream, place: Span) -> TokenStream {
    let shown = |token: TokenTree| {
        let span = token.span().located_at(place);
        let mut token = match token {
            TokenTree::Group(group) => {
                Group::new(group.delimiter(), shown_at(group.stream(), place)).into()
            }
            other => other,
        };
        token.set_span(span);
        token
    };
    tokens.into_iter().map(shown).collect()
}
