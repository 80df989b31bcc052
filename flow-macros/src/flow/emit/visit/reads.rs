//! The values that a node reads, as expressions. The plan has their places and handovers.
//!
//! A value that is read again later is cloned.

use flow_spec::ERROR_KEY;
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens as _, format_ident, quote_spanned};

use crate::contract::{Kind, Mode, ReadPort};
use crate::flow::emit::checks::{is_surely_printed, may_differ};
use crate::flow::plan::{Handover, Read, ReadIndex, Slot};
use crate::names::ident;
use crate::text::{has_arguments, is_plain_text, item_of_slice, item_of_vec};

use super::Visit;
use super::branch_state::taken_field;

/// A value that a node reads, and the name to which it is bound. When bound first, it has its own
/// type, which is then coerced to that of the parameter, such as `&String` to `&str`.
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
    /// The values that it reads.
    pub(super) fn arguments(&self) -> Vec<Argument> {
        let reads = self.contract.reads.iter().enumerate();
        reads
            .map(|(index, port)| Argument {
                name: format_ident!("__argument_{index}", span = self.site),
                value: self.value(ReadIndex(index), port),
            })
            .collect()
    }

    /// The value of a read.
    pub(super) fn value(&self, read: ReadIndex, port: &ReadPort) -> TokenStream {
        let value = self.stored(read, port);
        let Read { key, slot, .. } = self.plan.read(self.place, self.node, read);
        if key != ERROR_KEY {
            let is_item = matches!(slot, Slot::Item | Slot::Nowhere);
            return match self.compared(read, port, key).filter(|_| !is_item) {
                Some(types) => self.read_as(port, &types, &value),
                None => value,
            };
        }
        // Every error can be read as a `dyn Error`.
        if port.rust_type.starts_with("dyn ") {
            return value;
        }
        let (rt, site) = (&self.rt, self.site);
        match port.mode {
            Mode::Borrow => quote_spanned!(site=> #rt::ReadsError::borrowed(#value)),
            Mode::Take => quote_spanned!(site=> #rt::ReadsError::taken(#value)),
            Mode::MaybeBorrow | Mode::MaybeDeref => {
                quote_spanned!(site=> #value.map(#rt::ReadsError::borrowed))
            }
            Mode::MaybeTake => quote_spanned!(site=> #value.map(#rt::ReadsError::taken)),
        }
    }

    /// The type of a key and the type that a node reads it as, if their names differ and only rustc
    /// knows whether the types do.
    pub(super) fn compared(
        &self,
        read: ReadIndex,
        port: &ReadPort,
        key: &str,
    ) -> Option<[TokenStream; 2]> {
        let is_generic = self.instance.path().is_none_or(has_arguments);
        let is_human = self.contract.kind == Kind::Human;
        let (written, wanted) = (self.state.text(key)?, &*port.rust_type);
        let item = item_of_slice(wanted);
        let (written, wanted) = match item {
            Some(item) => (item_of_vec(written)?, item),
            None => (written, wanted),
        };
        if is_generic || is_human || port.mode.optional() || !may_differ(written, wanted) {
            return None;
        }
        let (rt, site, path) = (&self.rt, self.site, &self.path);
        let wanted = if !is_plain_text(wanted) {
            let index = read.0;
            quote_spanned!(site=> <#path as #rt::ReadsAt<#index>>::Type)
        } else if wanted == "str" || is_surely_printed(wanted) {
            // It means the same everywhere.
            ident(wanted, self.instance.span).to_token_stream()
        } else {
            return None;
        };
        let wanted = match item {
            Some(_) => quote_spanned!(site=> [#wanted]),
            None => wanted,
        };
        Some([self.state.ty(key), wanted])
    }

    /// The value as a node reads it, if it can be read so.
    fn read_as(
        &self,
        port: &ReadPort,
        [written, wanted]: &[TokenStream; 2],
        value: &TokenStream,
    ) -> TokenStream {
        let (rt, site) = (&self.rt, self.site);
        if port.mode.takes() {
            let agreed = self.emit.agreed(written, wanted, self.instance.span);
            return quote_spanned!(site=> #agreed(#value));
        }
        quote_spanned!(site=> {
            (&&&&#rt::Lend::<#written, #wanted>(#value, ::core::marker::PhantomData)).__lend()
        })
    }

    /// The value of a read, as it is stored.
    fn stored(&self, read: ReadIndex, port: &ReadPort) -> TokenStream {
        let (rt, site) = (&self.rt, self.site);
        let Read {
            key,
            slot,
            handover,
        } = self.plan.read(self.place, self.node, read);
        let whole = match slot {
            Slot::Item => return self.item(port.mode),
            Slot::Nowhere => return quote_spanned!(site=> #rt::None),
            Slot::OwnOrBase => {
                let field = ident(key, self.instance.span);
                if port.mode == Mode::Borrow {
                    return quote_spanned!(site=> #rt::either(&__own.#field, &__base.#field));
                }
                quote_spanned!(site=> #rt::Option::as_ref(&__own.#field).or(#rt::Option::as_ref(&__base.#field)))
            }
            Slot::State | Slot::Base | Slot::Own | Slot::Taken(_) => {
                let field = self.field(slot, key);
                match (port.mode, handover) {
                    (Mode::Borrow, _) => return quote_spanned!(site=> #rt::get(&#field)),
                    (Mode::Take, Handover::Move) => {
                        return quote_spanned!(site=> #rt::take(&mut #field));
                    }
                    (Mode::MaybeTake, Handover::Move) => {
                        let value = quote_spanned!(site=> #rt::Option::take(&mut #field));
                        return self.flattened(value, key, port);
                    }
                    _ => quote_spanned!(site=> #rt::Option::as_ref(&#field)),
                }
            }
        };
        let value = match (port.mode, handover) {
            (_, Handover::Clone { .. }) => return self.cloned(&whole, key, port),
            (Mode::MaybeDeref, _) if key != ERROR_KEY => self.deref(whole, key),
            _ => whole,
        };
        self.flattened(value, key, port)
    }

    /// The field of a value.
    fn field(&self, slot: Slot, key: &str) -> TokenStream {
        let site = self.site;
        let field = ident(key, self.instance.span);
        match slot {
            Slot::State => quote_spanned!(site=> __state.#field),
            Slot::Base => quote_spanned!(site=> __base.#field),
            Slot::Own => quote_spanned!(site=> __own.#field),
            Slot::Taken(by) => {
                let taken = taken_field(by, site);
                quote_spanned!(site=> __own.#taken)
            }
            Slot::OwnOrBase | Slot::Item | Slot::Nowhere => {
                unreachable!("`{key}` is not in one field")
            }
        }
    }

    /// The item of a loop.
    fn item(&self, mode: Mode) -> TokenStream {
        let (rt, site) = (&self.rt, self.site);
        let item = match mode {
            Mode::Borrow | Mode::MaybeBorrow => quote_spanned!(site=> __item),
            Mode::Take | Mode::MaybeTake => quote_spanned!(site=> #rt::TakeItem::take_item(__item)),
            Mode::MaybeDeref => quote_spanned!(site=> #rt::ReadsAs::read(__item)),
        };
        if mode.optional() {
            quote_spanned!(site=> #rt::Some(#item))
        } else {
            item
        }
    }

    /// The value of a read that is cloned.
    fn cloned(&self, whole: &TokenStream, key: &str, port: &ReadPort) -> TokenStream {
        let (rt, site) = (&self.rt, self.site);
        let clone = self.emit.cloned(key, self.instance.span);
        let cloned = match port.mode {
            Mode::Take => quote_spanned!(site=> #clone(#rt::written(#whole))),
            _ => quote_spanned!(site=> #whole.map(#clone)),
        };
        self.flattened(cloned, key, port)
    }

    /// Makes an `Option` that a node returned readable like any other value that may be missing.
    fn flattened(&self, value: TokenStream, key: &str, port: &ReadPort) -> TokenStream {
        let site = self.site;
        if !port.mode.optional() || !self.state.flattens(key, &port.rust_type) {
            return value;
        }
        match port.mode {
            Mode::MaybeTake => quote_spanned!(site=> #value.flatten()),
            Mode::MaybeDeref => value,
            _ => quote_spanned!(site=> #value.and_then(::core::option::Option::as_ref)),
        }
    }

    /// The value to which a value dereferences, such as `str` for `String`.
    fn deref(&self, value: TokenStream, key: &str) -> TokenStream {
        let (rt, site) = (&self.rt, self.site);
        let value = if self.state.flattens(key, "") {
            quote_spanned!(site=> #value.and_then(::core::option::Option::as_ref))
        } else {
            value
        };
        quote_spanned!(site=> #value.map(|__value| #rt::ReadsAs::read(__value)))
    }
}
