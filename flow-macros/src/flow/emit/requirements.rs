//! The requirements of a flow on its runner, and whether a timeout can end it, as constants.

use std::collections::HashSet;

use flow_spec::Code;
use proc_macro2::{Span, TokenStream};
use quote::quote_spanned;

use crate::contract::Kind;
use crate::names::here;

use super::context::Emit;

use crate::flow::instances::{Instance, InstanceKind, path_key};

use crate::flow::types::node_type;

impl Emit<'_> {
    /// The constants that are true if the flow or one of its inner flows asks people or waits for
    /// signals, or if one of their nodes writes in a transaction, awaits, or can be undone.
    pub(super) fn requirements(&self) -> TokenStream {
        let site = here(self.flow.name.span());
        let rt = self.runtime.hidden_at(site);
        let asks = quote_spanned!(site=> asks_people);
        let receives = quote_spanned!(site=> receives_signals);
        let (asking, receiving) = (
            self.external(Kind::Human, &asks),
            self.external(Kind::Signal, &receives),
        );
        let (opening, awaiting) = (self.opening(), self.awaiting());
        let undoing = self.undoing();
        quote_spanned! {site=>
            #rt::requirements!(#asking, #opening, #receiving, #awaiting, #undoing);
        }
    }

    /// True if visits of the flow or of one of its inner flows can be undone.
    fn undoing(&self) -> TokenStream {
        let site = here(self.flow.name.span());
        let instances = &self.plan.instances;
        if instances.undo_nodes().next().is_some() {
            return quote_spanned!(site=> true);
        }
        let rt = self.runtime.hidden_at(site);
        let mut seen = HashSet::new();
        let inner = self.plan.nodes().filter_map(|(_, instance, contract)| {
            instance.path().filter(|path| seen.insert(path_key(path)))?;
            let ty = (contract.kind == Kind::Flow).then(|| node_type(self.flow, instance))?;
            Some(quote_spanned!(site=> || #rt::undoes!(#ty)))
        });
        quote_spanned!(site=> false #(#inner)*)
    }

    /// True if the flow has a node of this kind, or one of its inner flows has, as a macro of the
    /// runtime tests.
    fn external(&self, kind: Kind, test: &TokenStream) -> TokenStream {
        let site = here(self.flow.name.span());
        let rt = self.runtime.hidden_at(site);
        let mut seen = HashSet::new();
        let found = self.plan.nodes().filter_map(|(_, instance, contract)| {
            instance.path().filter(|path| seen.insert(path_key(path)))?;
            if contract.kind == Kind::Flow {
                let ty = node_type(self.flow, instance);
                return Some(quote_spanned!(site=> || #rt::#test!(#ty)));
            }
            (contract.kind == kind).then(|| quote_spanned!(site=> || true))
        });
        quote_spanned!(site=> false #(#found)*)
    }

    /// True if the flow or one of its inner flows has a node with a transaction.
    fn opening(&self) -> TokenStream {
        let site = here(self.flow.name.span());
        if self
            .plan
            .nodes()
            .any(|(_, _, contract)| contract.transaction)
        {
            return quote_spanned!(site=> true);
        }
        let rt = self.runtime.hidden_at(site);
        let mut seen = HashSet::new();
        let inner = self.plan.nodes().filter_map(|(_, instance, contract)| {
            instance.path().filter(|path| seen.insert(path_key(path)))?;
            let ty = (contract.kind == Kind::Flow).then(|| node_type(self.flow, instance))?;
            Some(quote_spanned!(site=> || #rt::opens_transactions!(#ty)))
        });
        quote_spanned!(site=> false #(#inner)*)
    }

    /// True if a run of the flow awaits anything. Otherwise, it is over before anybody can look at
    /// a clock. Awaits of some engines only do not count, except the items of a spread loop, which
    /// only those engines await.
    fn awaiting(&self) -> TokenStream {
        let site = here(self.flow.name.span());
        let awaits = self.plan.nodes().any(|(_, instance, contract)| {
            let settings = instance.declared(self.flow).map(|node| &node.settings);
            let pauses = settings.is_some_and(|given| given.waits() || given.spread.is_some());
            pauses
                || match (&instance.kind, contract.kind) {
                    (InstanceKind::Wait(_), _) => true,
                    (InstanceKind::Node(_), Kind::Flow) => false,
                    (InstanceKind::Node(_), _) => contract.awaits(),
                    _ => false,
                }
        });
        if awaits {
            return quote_spanned!(site=> true);
        }
        let mut seen = HashSet::new();
        let rt = self.runtime.hidden_at(site);
        let inner = self.plan.nodes().filter_map(|(_, instance, contract)| {
            instance.path().filter(|path| seen.insert(path_key(path)))?;
            let ty = (contract.kind == Kind::Flow).then(|| node_type(self.flow, instance))?;
            Some(quote_spanned!(site=> || #rt::awaits!(#ty)))
        });
        quote_spanned!(site=> false #(#inner)*)
    }

    /// Makes rustc report each timeout of a flow that never awaits. Only the flow itself knows, as
    /// it may be from another crate.
    pub(super) fn timeout_checks(&self) -> impl Iterator<Item = TokenStream> {
        self.plan.nodes().filter_map(|(node, instance, _)| {
            let declared = instance.declared(self.flow)?;
            let (user, _) = declared.settings.timeout?;
            let timed = match instance.kind {
                InstanceKind::Each { .. } => self.plan.instances.body(node),
                _ => node,
            };
            // A body without its own name has the declaration of its loop.
            let is_told_below = timed != node && self.plan.instances[timed].hidden;
            let is_flow = self.plan.resolved.contracts[timed].kind == Kind::Flow;
            (is_flow && !is_told_below)
                .then(|| self.timeout_check(&self.plan.instances[timed], user))
                .flatten()
        })
    }

    fn timeout_check(&self, timed: &Instance, user: Span) -> Option<TokenStream> {
        let last = timed.path()?.segments.last()?;
        let (flow, code) = (&last.ident, Code::NamesNothing);
        let (rt, ty) = (self.runtime.hidden_at(user), node_type(self.flow, timed));
        let awaits = quote_spanned!(user=> #rt::awaits!(#ty));
        let message = format!(
            "`{flow}` never awaits, so a `timeout` cannot end it [{code}]\n\
             help: make the node of `{flow}` that takes long an `async fn`, or write \
             `#[node(blocking)]` if it blocks"
        );
        Some(self.check(&awaits, &message, user))
    }

    /// Makes rustc report each loop whose items may run in parts, which are executions of their own,
    /// although a flow in it waits for signals, or can be undone: nobody knows to which of them to
    /// send a signal, and the execution with the loop has no visits of theirs.
    pub(super) fn spread_checks(&self) -> impl Iterator<Item = TokenStream> {
        let spread = self.plan.nodes().filter_map(|(node, instance, _)| {
            let InstanceKind::Each { .. } = instance.kind else {
                return None;
            };
            let (user, _) = instance.declared(self.flow)?.settings.spread?;
            let body = self.plan.instances.body(node);
            if self.plan.resolved.contracts[body].kind != Kind::Flow {
                return None;
            }
            let body = &self.plan.instances[body];
            let last = body.path()?.segments.last()?;
            let (flow, code) = (&last.ident, Code::NamesNothing);
            let (rt, ty) = (self.runtime.hidden_at(user), node_type(self.flow, body));
            let takes_none = quote_spanned!(user=> !#rt::receives_signals!(#ty));
            let message = format!(
                "`{flow}` waits for signals, and the items of a loop with `spread` run as executions of their own, to which nobody sends them [{code}]\n\
                 help: remove `spread`, or wait for the signal outside the loop"
            );
            let takes_none = self.check(&takes_none, &message, user);
            let (stays, code) = (quote_spanned!(user=> !#rt::undoes!(#ty)), Code::Undo);
            let message = format!(
                "`{flow}` can be undone, and the items of a loop with `spread` run as executions of their own, which nobody undoes with it [{code}]\n\
                 help: remove `spread`, or `undo` at the steps of `{flow}`"
            );
            Some([takes_none, self.check(&stays, &message, user)])
        });
        spread.flatten()
    }
}
