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
    /// The constants that are true if the flow or one of its inner flows asks people, or if one of
    /// their nodes writes in a transaction or awaits.
    pub(super) fn requirements(&self) -> TokenStream {
        let site = here(self.flow.name.span());
        let rt = self.runtime.hidden_at(site);
        let mut seen = HashSet::new();
        let asking = self.plan.nodes().filter_map(|(_, instance, contract)| {
            instance.path().filter(|path| seen.insert(path_key(path)))?;
            match contract.kind {
                Kind::Human => Some(quote_spanned!(site=> true)),
                Kind::Flow => {
                    let ty = node_type(self.flow, instance);
                    Some(quote_spanned!(site=> #rt::asks_people!(#ty)))
                }
                Kind::Function | Kind::Type => None,
            }
        });
        let (opening, awaiting) = (self.opening(), self.awaiting());
        quote_spanned! {site=>
            #rt::requirements!(false #(|| #asking)*, #opening, #awaiting);
        }
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
}
