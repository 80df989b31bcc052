//! Visits that can be undone: what is kept for their undo nodes, and the undo nodes themselves.
//!
//! What an undo node reads is kept as a state of the flow in which all other keys are missing. So it
//! is stored and read as any other state, and the undo node is called as any other node.

use std::collections::BTreeSet;

use flow_spec::{Code, ERROR_ACTION, NodeId, TIMEOUT_ACTION};
use proc_macro2::{Ident, TokenStream};
use quote::quote_spanned;
use syn::Path;

use crate::contract::Kind;
use crate::flow::emit::checks::said;
use crate::flow::emit::context::Emit;
use crate::flow::instances::{Instance, InstanceKind};
use crate::flow::plan::{Place, RouteIndex, Slot};
use crate::names::{here, hidden, ident, plain};

use super::Visit;
use super::fork::Branch;

/// The actions of a visit that failed or took too long, and so is not done.
const FAILURES: [&str; 2] = [ERROR_ACTION, TIMEOUT_ACTION];

impl Visit<'_> {
    /// The node that takes back this visit.
    pub(super) fn undo_node(&self) -> Option<NodeId> {
        self.plan.instances.undo_node(self.node)
    }

    /// Returns true if visits in these branches can be undone, or if that depends on flows in them.
    pub(super) fn may_undo_in(&self, branches: &[Branch<'_>]) -> bool {
        let nodes = branches.iter().flat_map(|branch| branch.plan.chain);
        self.plan.may_undo_in(nodes.copied())
    }

    /// Finishes the steps with an undo node that are under way in these branches. `__done` is true
    /// for branches that are done.
    pub(super) fn finish_branches(&self, branches: &[Branch<'_>]) -> TokenStream {
        let (rt, site) = (&self.rt, self.site);
        let polls = branches.iter().enumerate().map(|(number, Branch { run, .. })| {
            quote_spanned!(site=> &mut #rt::poll_branch(::core::pin::Pin::as_mut(&mut #run), __done[#number]))
        });
        quote_spanned!(site=> #rt::finish_branches(__scope, &mut [#(#polls),*]).await;)
    }

    /// Keeps what the undo node will read, once a visit in a branch is done. Empty if there is none.
    pub(super) fn kept_in_branch(&self) -> TokenStream {
        let Some(undo) = self.undo_node() else {
            return TokenStream::new();
        };
        let (site, keep) = (self.site, self.keep(undo));
        let failures = FAILURES.into_iter().filter_map(|action| self.way(action));
        let failures: Vec<TokenStream> = failures.map(|way| quote_spanned!(site=> #way)).collect();
        if failures.is_empty() || !self.chooses() {
            return keep;
        }
        quote_spanned!(site=> if #(__action != #failures)&&* { #keep })
    }

    /// Keeps what the undo node will read, once a visit has taken this route. Empty if there is none,
    /// or if the visit has failed.
    pub(super) fn kept_by(&self, route: RouteIndex) -> TokenStream {
        let failed = FAILURES.contains(&self.plan.edge(route).action());
        match self.undo_node().filter(|_| !failed) {
            Some(undo) => self.keep(undo),
            None => TokenStream::new(),
        }
    }

    fn keep(&self, undo: NodeId) -> TokenStream {
        let (rt, site) = (&self.rt, self.site);
        let keys = self.kept_keys(undo);
        let fields = self.state.fields().map(|(field, _)| {
            let key = plain(field);
            if !keys.contains(&*key) {
                return quote_spanned!(site=> #field: #rt::None);
            }
            let clone = self.emit.cloned(&key, self.instance.span);
            let value = self.value_when_done(&key);
            quote_spanned!(site=> #field: #rt::Option::map(#value, #clone))
        });
        quote_spanned! {site=>
            #rt::StateHooks::<__State>::undoable(__engine, __scope, __State { #(#fields,)* });
        }
    }

    /// The keys that an undo node reads and that anything writes.
    fn kept_keys(&self, undo: NodeId) -> BTreeSet<&str> {
        let reads = &self.plan.resolved.graph.graph().node(undo).reads;
        let keys = reads.iter().map(|read| read.key.as_str());
        keys.filter(|key| self.state.has(key)).collect()
    }

    /// A reference to the value of a key when the visit is done: an `Option`.
    fn value_when_done(&self, key: &str) -> TokenStream {
        let (rt, site) = (&self.rt, self.site);
        let field = ident(key, self.instance.span);
        let of = |owner: TokenStream| quote_spanned!(site=> #rt::Option::as_ref(&#owner.#field));
        let Place::Branch(branch) = self.place else {
            return of(quote_spanned!(site=> __state));
        };
        let (own, base) = (
            of(quote_spanned!(site=> __own)),
            of(quote_spanned!(site=> __base)),
        );
        match branch.slot_when_done(self.node, key) {
            Slot::Own => own,
            Slot::OwnOrBase => quote_spanned!(site=> #own.or(#base)),
            Slot::Taken(by) => {
                let taken = super::branch_state::taken_field(by, site);
                quote_spanned!(site=> #rt::Option::as_ref(&__own.#taken))
            }
            _ => base,
        }
    }

    /// Makes rustc report each value that is kept and cannot be cloned.
    pub(super) fn undo_checks(&self) -> Vec<TokenStream> {
        let declared = self.instance.declared(self.emit.flow);
        let (Some(undo), Some((_, path))) = (
            self.undo_node(),
            declared.and_then(|node| node.settings.undo.as_ref()),
        ) else {
            return Vec::new();
        };
        let user = last_word(path);
        let (owner, reader) = (&self.instance.shown, &self.plan.instances[undo].shown);
        let keys = self.kept_keys(undo).into_iter();
        let checks = keys.filter_map(|key| {
            let ty = said(self.state.text(key));
            let code = Code::TakenTooEarly;
            let message = format!(
                "`{reader}` reads `{key}` when it takes back `{owner}`, so a copy is kept until then [{code}]\n\
                 help: derive `Clone` for {ty}"
            );
            self.emit.clone_check(key, None, &message, user)
        });
        checks.collect()
    }

    /// The name of the function that runs an undo node.
    fn undo_function(&self) -> Ident {
        hidden("undo", &plain(&self.instance.name), self.instance.span)
    }
}

fn last_word(path: &Path) -> proc_macro2::Span {
    let last = path.segments.last();
    last.map_or_else(proc_macro2::Span::call_site, |last| last.ident.span())
}

impl Emit<'_> {
    /// The nodes that take back visits, each once. They run with what was kept, as in the loop.
    pub(in crate::flow::emit) fn undo_visits(&self) -> impl Iterator<Item = Visit<'_>> {
        let nodes: BTreeSet<NodeId> = self.plan.instances.undo_nodes().collect();
        let visits = nodes.into_iter();
        visits.map(|node| Visit::new(self, node, Place::Loop))
    }

    /// The functions that run the undo nodes.
    pub(in crate::flow::emit) fn undo_functions(&self) -> TokenStream {
        let functions = self.undo_visits().map(|visit| {
            let (rt, site) = (&visit.rt, visit.site);
            let (function, awaited) = (visit.undo_function(), visit.awaited());
            let bounds = visit.bounds();
            quote_spanned! {site=>
                async fn #function<__E>(
                    &self, __engine: &__E, __scope: &#rt::Scope<'_>, __state: &mut __State,
                ) -> #rt::Result<(), #rt::Failed>
                where
                    __E: #rt::Hooks,
                    #(#bounds,)*
                {
                    match #awaited {
                        #rt::Ok(_) => #rt::Ok(()),
                        #rt::Err(__failed) => #rt::Err(__failed),
                    }
                }
            }
        });
        functions.collect()
    }

    /// The items of `Drive` that undo visits. Empty for a flow in which nothing can be undone.
    pub(in crate::flow::emit) fn undo(&self) -> TokenStream {
        if !self.plan.may_undo() {
            return TokenStream::new();
        }
        let site = here(self.flow.name.span());
        let rt = self.runtime.hidden_at(site);
        let arms = self.plan.nodes();
        let arms = arms.filter_map(|(id, instance, _)| self.undo_arm(id, instance));
        quote_spanned! {site=>
            fn undo<'__a>(
                &'__a self,
                __engine: &'__a __E,
                __scope: &'__a #rt::Scope<'__a>,
                __step: #rt::StepKey<'__a>,
                __undoable: #rt::Undoable,
            ) -> #rt::BoxFuture<'__a, #rt::Result<(), #rt::Failed>> {
                let (__first, __rest) = #rt::StepKey::first(__step);
                match __first.name {
                    #(#arms)*
                    _ => #rt::not_undoable(__scope, __step),
                }
            }
        }
    }

    /// Leads a visit to its undo node: the arm for the segment of a node.
    fn undo_arm(&self, id: NodeId, instance: &Instance) -> Option<TokenStream> {
        let site = here(instance.span);
        let rt = self.runtime.hidden_at(site);
        let name = plain(&instance.name);
        let of_flow = |flow: NodeId| {
            let field = &self.plan.instances[flow].name;
            quote_spanned!(site=> #rt::Drive::undo(&self.#field, __engine, __scope, __rest, __undoable))
        };
        let is_flow = |node: NodeId| self.plan.resolved.contracts[node].kind == Kind::Flow;
        let undone = match &instance.kind {
            _ if instance.hidden => return None,
            InstanceKind::Node(_) if is_flow(id) => of_flow(id),
            InstanceKind::Node(_) => {
                let undo = self.plan.instances.undo_node(id)?;
                let function = Visit::new(self, undo, Place::Loop).undo_function();
                quote_spanned! {site=>
                    ::std::boxed::Box::pin(async move {
                        let mut __kept = #rt::StateHooks::<__State>::kept(__engine, __scope, __undoable).await?;
                        self.#function(__engine, __scope, &mut __kept).await
                    })
                }
            }
            InstanceKind::Each { .. } => {
                let body = self.plan.instances.body(id);
                if !is_flow(body) {
                    return None;
                }
                of_flow(body)
            }
            InstanceKind::Fork(_) | InstanceKind::Race(_) => {
                if !self.plan.may_undo_in(instance.kind.inner()) {
                    return None;
                }
                quote_spanned!(site=> <Self as #rt::Drive<__E>>::undo(self, __engine, __scope, __rest, __undoable))
            }
            InstanceKind::Branch(_)
            | InstanceKind::Wait(_)
            | InstanceKind::Undo
            | InstanceKind::Commit => return None,
        };
        Some(quote_spanned!(site=> #name => #undone,))
    }
}
