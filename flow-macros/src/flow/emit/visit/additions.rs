//! The values that a node adds to those of keys.
//!
//! In a branch of a fork, what is added is kept until all branches are done, and is then added in
//! their order. If a later node of the branch reads the key, the branch also has a value of its
//! own: that of the flow at the fork, and what the branch has added.

use flow_spec::{Code, NodeId};
use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote_spanned};

use crate::contract::WritePort;
use crate::flow::emit::checks::said;
use crate::flow::emit::results::item_type;
use crate::flow::instances::InstanceKind;
use crate::flow::mapped::{adds, key_of};
use crate::flow::plan::{Addition, BranchPlan, Place};
use crate::names::{ident, plain};
use crate::text::item_of_vec;

use super::Visit;

/// A value that a node adds.
pub(super) struct Added {
    pub(super) key: String,
    /// The type of the value, or of each of them.
    ty: TokenStream,
    /// The type as written.
    text: String,
    /// True for the results of a loop, which are added one after the other.
    many: bool,
}

impl Added {
    /// A value that a node adds to this key.
    pub(super) fn of_port(key: String, ty: TokenStream, port: &WritePort) -> Self {
        Added {
            key,
            ty,
            text: port.rust_type.clone(),
            many: false,
        }
    }
}

impl Visit<'_> {
    /// The values that it adds.
    pub(super) fn added(&self) -> Vec<Added> {
        if let InstanceKind::Each { .. } = self.instance.kind {
            let body = self.plan.instances.body(self.node);
            let of_body = &self.plan.resolved.contracts[body].writes;
            let ports = self.contract.writes.iter().filter(|port| port.adds);
            let added = ports.map(|port| Added {
                key: plain(&port.name),
                ty: item_type(self.plan, self.emit.runtime, body),
                text: of_body
                    .first()
                    .map_or_else(String::new, |port| port.rust_type.clone()),
                many: true,
            });
            return added.collect();
        }
        let ports = self.written_ports().into_iter();
        let ports = ports.filter(|(port, _)| adds(self.mapping, port));
        let added = ports.map(|(port, ty)| {
            let key = plain(key_of(self.mapping, &port.name, false));
            Added::of_port(key, ty, port)
        });
        added.collect()
    }

    /// Adds a value to the key's.
    pub(super) fn add(&self, added: &Added, value: &TokenStream) -> TokenStream {
        let (rt, site) = (&self.rt, self.site);
        let field = ident(&added.key, self.instance.span);
        let Place::Branch(branch) = self.place else {
            return self.add_to(added, &quote_spanned!(site=> __state.#field), value);
        };
        let own = quote_spanned!(site=> __own.#field);
        let copied = || {
            let clone = self.emit.cloned(&added.key, self.instance.span);
            quote_spanned! {site=>
                if #rt::Option::is_none(&#own) {
                    #own = #rt::Option::as_ref(&__base.#field).map(#clone);
                }
            }
        };
        match branch.addition(self.node, &added.key) {
            Addition::ToOwn { replaced: true } => self.add_to(added, &own, value),
            Addition::ToOwn { replaced: false } => {
                let (copied, add) = (copied(), self.add_to(added, &own, value));
                quote_spanned!(site=> #copied #add)
            }
            Addition::AtJoin { seen } => {
                let kept = self.added_field(&added.key);
                let seen = seen.then(|| {
                    let ty = self.kept_type(added);
                    let again = quote_spanned!(site=> #rt::CloneOf::<#ty>::__of(&__more));
                    let (copied, add) = (copied(), self.add_to(added, &own, &again));
                    quote_spanned!(site=> #copied #add)
                });
                quote_spanned!(site=> {
                    let __more = #value;
                    #seen
                    __own.#kept = #rt::Some(__more);
                })
            }
        }
    }

    /// Adds a value in this slot.
    fn add_to(&self, added: &Added, slot: &TokenStream, value: &TokenStream) -> TokenStream {
        let (rt, site, ty) = (&self.rt, self.site, &added.ty);
        let of_key = self.state.ty(&added.key);
        let graph = &self.plan.resolved.graph;
        let begin = graph
            .may_add_first(self.node, &added.key)
            .then(|| quote_spanned!(site=> #rt::BeginOf::<#of_key>::__begin(&mut #slot);));
        let add = quote_spanned!(site=> #rt::AddOf::<#of_key, #ty>::__add);
        if added.many {
            return quote_spanned!(site=> #begin for __more in #value { #add(&mut #slot, __more); });
        }
        quote_spanned!(site=> #begin #add(&mut #slot, #value);)
    }

    /// Adds what a branch has added, now that all are done. `own` is the branch's state.
    pub(super) fn add_at_join(&self, branch: &BranchPlan<'_>, own: &Ident) -> TokenStream {
        let (rt, site) = (&self.rt, self.site);
        let visits = branch.chain.iter();
        let visits = visits.map(|&node| Visit::new(self.emit, node, Place::Loop));
        let added = visits.flat_map(|visit| {
            let added = visit.added().into_iter();
            let at_join = added.filter(|added| !branch.replaces(&added.key));
            let adds = at_join.map(|added| {
                let (kept, more) = (visit.added_field(&added.key), quote_spanned!(site=> __more));
                let add = visit.add(&added, &more);
                quote_spanned!(site=> if let #rt::Some(__more) = #own.#kept { #add })
            });
            adds.collect::<Vec<_>>()
        });
        added.collect()
    }

    /// The fields of a branch's state for what its nodes add, with their types.
    pub(super) fn added_fields(&self, branch: &BranchPlan<'_>) -> Vec<(Ident, TokenStream)> {
        let visits = branch.chain.iter();
        let visits = visits.map(|&node| Visit::new(self.emit, node, Place::Loop));
        let fields = visits.flat_map(|visit| {
            let added = visit.added().into_iter();
            let at_join = added.filter(|added| !branch.replaces(&added.key));
            let fields =
                at_join.map(|added| (visit.added_field(&added.key), visit.kept_type(&added)));
            fields.collect::<Vec<_>>()
        });
        fields.collect()
    }

    /// The type of what a branch keeps until it is added.
    fn kept_type(&self, Added { ty, many, .. }: &Added) -> TokenStream {
        if *many {
            quote_spanned!(self.site=> ::std::vec::Vec<#ty>)
        } else {
            ty.clone()
        }
    }

    /// The field of a branch's state for what this node adds to a key.
    fn added_field(&self, key: &str) -> Ident {
        let NodeId(node) = self.node;
        format_ident!("__added_{node}_{key}", span = self.site)
    }

    /// The checks of the types of what it adds.
    pub(super) fn addition_checks(&self) -> Vec<TokenStream> {
        let added = self.added().into_iter();
        added
            .flat_map(|added| self.addition_check(&added))
            .collect()
    }

    fn addition_check(&self, added: &Added) -> Vec<TokenStream> {
        let Added { key, ty, text, .. } = added;
        let (user, shown) = (self.instance.span, &self.instance.shown);
        let rt = self.emit.runtime.hidden_at(user);
        let (Some(of_key), own) = (self.state.get(key), self.state.ty(key)) else {
            return Vec::new();
        };
        let mut checks = Vec::new();
        if !of_key.surely_takes(text) {
            let adds = quote_spanned!(user=> #rt::AddOf::<#own, #ty>::__ADDS);
            checks.push(
                self.emit
                    .check(&adds, &of_key.told_to_adder(shown, text), user),
            );
        }
        let graph = &self.plan.resolved.graph;
        let mut first = self.plan.nodes().map(|(id, ..)| id);
        let first = first.find(|&id| graph.may_add_first(id, key));
        if first == Some(self.node) && !of_key.surely_begins() {
            let begins = quote_spanned!(user=> #rt::BeginOf::<#own>::__BEGINS);
            checks.push(
                self.emit
                    .check(&begins, &of_key.told_to_beginner(shown), user),
            );
        }
        let Place::Branch(branch) = self.place else {
            return checks;
        };
        let code = Code::TakenTooEarly;
        let message = |ty: &str| {
            format!(
                "`{shown}` adds to `{key}` in a branch that reads it afterwards, and {ty} is not `Clone` [{code}]\n\
                 help: derive `Clone` for {ty}, or read `{key}` after the fork"
            )
        };
        let addition = branch.addition(self.node, key);
        let seen = addition == (Addition::AtJoin { seen: true });
        // A list can be cloned if its items can.
        let is_item = self.state.text(key).and_then(item_of_vec) == Some(&**text);
        if addition == (Addition::ToOwn { replaced: false }) || seen && !is_item {
            let message = message(&said(self.state.text(key)));
            checks.extend(self.emit.clone_check(key, None, &message, user));
        }
        if seen {
            let is_clone = quote_spanned!(user=> #rt::CloneOf::<#ty>::__IS_CLONE);
            let text = Some(&**text).filter(|text| !text.is_empty());
            checks.push(self.emit.check(&is_clone, &message(&said(text)), user));
        }
        checks
    }
}
