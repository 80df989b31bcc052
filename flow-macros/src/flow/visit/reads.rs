//! What a node reads: where its value is, and how it is handed over.
//!
//! The hard thing is a value that is read again later: then it is cloned, through a trait of its
//! own, so that a type that is not `Clone` is told who reads it.

use flow_spec::{Code, NodeId, Take};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote_spanned};

use crate::contract::{Kind, Mode, ReadPort};
use crate::flow::mapped::key_of;
use crate::flow::store::is_option;
use crate::names::{ident, plain};

use super::branch_store::BranchStore;
use super::{Place, Visit};

/// Where a value is.
enum Slot {
    /// A field that can be moved out of.
    Owned(TokenStream),
    /// A field that can only be looked at.
    Shared(TokenStream),
    /// What the branch has taken out of the store before it started.
    Taken(TokenStream),
    /// In the first, if it was written, and else in the second.
    Either(TokenStream, TokenStream),
    /// The item of a loop.
    Item,
    /// Nobody writes it.
    Nowhere,
}

impl Slot {
    /// An `Option` of a reference to a value that is in a field.
    fn borrowed(&self, site: Span) -> TokenStream {
        match self {
            Slot::Owned(field) | Slot::Shared(field) | Slot::Taken(field) => {
                quote_spanned!(site=> #field.as_ref())
            }
            Slot::Either(own, base) => {
                quote_spanned!(site=> #own.as_ref().or(#base.as_ref()))
            }
            Slot::Item | Slot::Nowhere => unreachable!("what is in no field is handed over before"),
        }
    }
}

/// A value that a node reads, and the name it is bound to: bound first, it has its own type, which
/// is then coerced to the parameter's, as `&String` is to `&str`.
pub(super) struct Argument {
    pub(super) name: Ident,
    value: TokenStream,
}

pub(super) fn bound(arguments: &[Argument], site: Span) -> (TokenStream, Vec<&Ident>) {
    let bindings = arguments
        .iter()
        .map(|Argument { name, value }| quote_spanned!(site=> let #name = #value;));
    (
        bindings.collect(),
        arguments.iter().map(|argument| &argument.name).collect(),
    )
}

impl Visit<'_> {
    /// The values that it reads, and the traits by which some of them are cloned.
    pub(super) fn arguments(&self) -> (Vec<TokenStream>, Vec<Argument>) {
        let mut traits = Vec::new();
        let mut arguments = Vec::new();
        for (index, port) in self.contract.reads.iter().enumerate() {
            let (value, its_trait) = self.value(index, port);
            traits.extend(its_trait);
            arguments.push(Argument {
                name: format_ident!("argument_{index}", span = self.site),
                value,
            });
        }
        (traits, arguments)
    }

    fn slot(&self, read: usize, key: &str) -> Slot {
        let site = self.site;
        let field = ident(key, self.instance.span);
        let of_branch = |branch: &BranchStore, node: usize| {
            let (own, base) = (
                quote_spanned!(site=> own.#field),
                quote_spanned!(site=> base.#field),
            );
            match branch.written_before(node, key) {
                Some(false) => Slot::Owned(own),
                Some(true) => Slot::Either(own, base),
                None if branch.takes(self.index, read) => {
                    let taken = BranchStore::taken(self.index, read, site);
                    Slot::Taken(quote_spanned!(site=> own.#taken))
                }
                None => match branch.moved(key, site) {
                    Some(moved) => Slot::Shared(quote_spanned!(site=> own.#moved)),
                    None => Slot::Shared(base),
                },
            }
        };
        match self.place {
            Place::Item { item, .. } if plain(item) == key => Slot::Item,
            _ if !self.store.has(key) => Slot::Nowhere,
            Place::Loop => Slot::Owned(quote_spanned!(site=> state.#field)),
            Place::Branch(branch) => of_branch(branch, self.index),
            Place::Item { branch: None, .. } => Slot::Shared(quote_spanned!(site=> state.#field)),
            Place::Item {
                branch: Some(branch),
                of,
                ..
            } => match of_branch(branch, of) {
                Slot::Owned(field) | Slot::Taken(field) => Slot::Shared(field),
                other => other,
            },
        }
    }

    /// The value of a read, and the trait by which it is cloned if it is.
    pub(super) fn value(&self, read: usize, port: &ReadPort) -> (TokenStream, Option<TokenStream>) {
        let (rt, site) = (&self.rt, self.site);
        let key = plain(key_of(self.mapping, &port.name, true));
        let take = match self.plan.resolved.graph.take(NodeId(self.index), read) {
            Take::Move if self.repeats() => Take::Clone {
                later: Some(NodeId(self.index)),
            },
            take => take,
        };
        let slot = self.slot(read, &key);
        let value = match (&slot, port.mode) {
            (Slot::Nowhere, _) => quote_spanned!(site=> ::core::option::Option::None),
            (Slot::Item, mode) => self.item(mode),
            (Slot::Owned(field) | Slot::Shared(field) | Slot::Taken(field), Mode::Borrow) => {
                quote_spanned!(site=> #rt::get(&#field))
            }
            (Slot::Either(own, base), Mode::Borrow) => {
                quote_spanned!(site=> #rt::either(&#own, &#base))
            }
            (stored, Mode::MaybeBorrow) => stored.borrowed(site),
            (stored, Mode::MaybeDeref) => self.deref(stored.borrowed(site), &key),
            (Slot::Taken(field), mode) if !self.repeats() => taken(rt, field, mode, site),
            (Slot::Owned(field), mode) if take == Take::Move => taken(rt, field, mode, site),
            (stored, Mode::Take | Mode::MaybeTake) => {
                return self.cloned(stored, take, &key, port);
            }
        };
        (self.flattened(value, &key, port), None)
    }

    /// The item of a loop.
    fn item(&self, mode: Mode) -> TokenStream {
        let (rt, site) = (&self.rt, self.site);
        let item = match mode {
            Mode::Borrow | Mode::MaybeBorrow => quote_spanned!(site=> item),
            Mode::Take | Mode::MaybeTake => quote_spanned!(site=> #rt::TakeItem::take_item(item)),
            Mode::MaybeDeref => quote_spanned!(site=> #rt::ReadsAs::read(item)),
        };
        match mode.optional() {
            true => quote_spanned!(site=> ::core::option::Option::Some(#item)),
            false => item,
        }
    }

    /// The value of a read that is cloned, and the trait for it.
    fn cloned(
        &self,
        slot: &Slot,
        take: Take,
        key: &str,
        port: &ReadPort,
    ) -> (TokenStream, Option<TokenStream>) {
        let (rt, site) = (&self.rt, self.site);
        let later = match take {
            Take::Clone { later } => later,
            Take::Move => Some(NodeId(self.index)),
        };
        let name = Ident::new(&format!("{key}_read_later"), site);
        let whole = slot.borrowed(site);
        let cloned = match port.mode {
            Mode::Take => quote_spanned!(site=> #name::__clone(#rt::written(#whole))),
            _ => quote_spanned!(site=> #whole.map(#name::__clone)),
        };
        let cloned = self.flattened(cloned, key, port);
        (cloned, Some(self.clone_trait(&name, key, later)))
    }

    /// An `Option` that a node returned is read as any other value that may be missing.
    fn flattened(&self, value: TokenStream, key: &str, port: &ReadPort) -> TokenStream {
        let site = self.site;
        if !port.mode.optional() || is_option(&port.rust_type) || !self.store.holds_option(key) {
            return value;
        }
        match port.mode {
            Mode::MaybeTake => quote_spanned!(site=> #value.flatten()),
            Mode::MaybeDeref => value,
            _ => quote_spanned!(site=> #value.and_then(::core::option::Option::as_ref)),
        }
    }

    /// What a value derefs to, as `String` does to `str`.
    fn deref(&self, value: TokenStream, key: &str) -> TokenStream {
        let (rt, site) = (&self.rt, self.site);
        let value = match self.store.holds_option(key) {
            true => quote_spanned!(site=> #value.and_then(::core::option::Option::as_ref)),
            false => value,
        };
        quote_spanned!(site=> #value.map(|value| #rt::ReadsAs::read(value)))
    }

    /// A trait to clone what is read later, so that a type that is not `Clone` is told who reads
    /// it.
    fn clone_trait(&self, name: &Ident, key: &str, later: Option<NodeId>) -> TokenStream {
        let taker = &self.instance.shown;
        let reader = match later {
            Some(NodeId(reader)) if reader == self.index => "it may need again itself".to_owned(),
            Some(NodeId(reader)) => {
                format!("`{}` reads later", self.plan.instances.list[reader].shown)
            }
            None => "the flow returns".to_owned(),
        };
        let code = Code::TakenTooEarly;
        let message = format!(
            "`{taker}` takes `{key}`, which {reader}, and `{{Self}}` is not `Clone` [{code}]"
        );
        let note = match self.contract.kind {
            Kind::Flow => "derive `Clone` for `{Self}`: a flow takes its inputs".to_owned(),
            Kind::Function | Kind::Type | Kind::Human => {
                format!(
                    "let `{taker}` read it by reference, as `&{{Self}}`, or derive `Clone` for `{{Self}}`"
                )
            }
        };
        quote_spanned! {self.site=>
            #[diagnostic::on_unimplemented(message = #message, label = "takes it by value", note = #note)]
            trait #name: ::core::marker::Sized {
                fn __clone(&self) -> Self;
            }
            #[diagnostic::do_not_recommend]
            impl<T: ::core::clone::Clone> #name for T {
                #[inline]
                fn __clone(&self) -> Self { ::core::clone::Clone::clone(self) }
            }
        }
    }
}

fn taken(rt: &TokenStream, field: &TokenStream, mode: Mode, site: Span) -> TokenStream {
    match mode {
        Mode::MaybeTake => quote_spanned!(site=> #field.take()),
        _ => quote_spanned!(site=> #rt::take(&mut #field)),
    }
}
