//! The values that a node reads, as expressions. The plan says where they are and how they are
//! passed to the node.
//!
//! The hard thing is a value that is read again later: it is cloned through a trait of its own, so
//! that the error for a type that is not `Clone` says who reads it.

use flow_spec::{Code, ERROR_KEY, EdgeTarget, Reader};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote_spanned};

use crate::contract::{Kind, Mode, ReadPort};
use crate::flow::plan::{Handover, Plan, Read, ReadIndex, Slot};
use crate::names::{camel_case, ident, plain};

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
                name: format_ident!("argument_{index}", span = self.site),
                value: self.value(ReadIndex(index), port),
            })
            .collect()
    }

    /// The value of a read.
    pub(super) fn value(&self, read: ReadIndex, port: &ReadPort) -> TokenStream {
        let value = self.stored(read, port);
        let key = self.plan.read(self.place, self.node, read).key;
        // Every error can be read as a `dyn Error`.
        if key != ERROR_KEY || port.rust_type.starts_with("dyn ") {
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
                    return quote_spanned!(site=> #rt::either(&own.#field, &base.#field));
                }
                quote_spanned!(site=> own.#field.as_ref().or(base.#field.as_ref()))
            }
            Slot::State | Slot::Base | Slot::Own | Slot::Taken(_) => {
                let field = self.field(slot, key);
                match (port.mode, handover) {
                    (Mode::Borrow, _) => return quote_spanned!(site=> #rt::get(&#field)),
                    (Mode::Take, Handover::Move) => {
                        return quote_spanned!(site=> #rt::take(&mut #field));
                    }
                    (Mode::MaybeTake, Handover::Move) => {
                        let value = quote_spanned!(site=> #field.take());
                        return self.flattened(value, key, port);
                    }
                    _ => quote_spanned!(site=> #field.as_ref()),
                }
            }
        };
        let value = match (port.mode, handover) {
            (_, Handover::Clone { later }) => return self.cloned(&whole, later, key, port),
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
            Slot::State => quote_spanned!(site=> state.#field),
            Slot::Base => quote_spanned!(site=> base.#field),
            Slot::Own => quote_spanned!(site=> own.#field),
            Slot::Taken(by) => {
                let taken = taken_field(by, site);
                quote_spanned!(site=> own.#taken)
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
            Mode::Borrow | Mode::MaybeBorrow => quote_spanned!(site=> item),
            Mode::Take | Mode::MaybeTake => quote_spanned!(site=> #rt::TakeItem::take_item(item)),
            Mode::MaybeDeref => quote_spanned!(site=> #rt::ReadsAs::read(item)),
        };
        if mode.optional() {
            quote_spanned!(site=> #rt::Some(#item))
        } else {
            item
        }
    }

    /// The value of a read that is cloned.
    fn cloned(
        &self,
        whole: &TokenStream,
        later: Reader,
        key: &str,
        port: &ReadPort,
    ) -> TokenStream {
        let (rt, site) = (&self.rt, self.site);
        // rustc prints its name, and its path as well if there is another one of the name.
        let parts = [key, &self.instance.shown, &plain(&self.plan.flow.name)].map(camel_case);
        let [key_name, taker, flow] = &parts;
        let name = Ident::new(&format!("Clone{key_name}For{taker}In{flow}"), site);
        let its_trait = self.clone_for_node(&name, key, later);
        let cloned = match port.mode {
            Mode::Take => quote_spanned!(site=> #name::__clone(#rt::written(#whole))),
            _ => quote_spanned!(site=> #whole.map(#name::__clone)),
        };
        let cloned = self.flattened(cloned, key, port);
        quote_spanned!(site=> { #its_trait #cloned })
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
        quote_spanned!(site=> #value.map(|value| #rt::ReadsAs::read(value)))
    }

    fn clone_for_node(&self, name: &Ident, key: &str, later: Reader) -> TokenStream {
        let taker = &self.instance.shown;
        let reader = match later {
            Reader::Node(reader) if reader == self.node => "it may need again itself".to_owned(),
            later => self.plan.reads_later(later),
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
        clone_trait(name, [&message, "takes it by value", &note], self.site)
    }
}

impl Plan<'_> {
    /// The words that say what reads a value later.
    pub(super) fn reads_later(&self, reader: Reader) -> String {
        match reader {
            Reader::Node(reader) => {
                format!("`{}` reads later", self.instances[reader].shown)
            }
            Reader::Edge(edge) => match &self.resolved.graph.graph().edges[edge].to {
                EdgeTarget::Node(to) => {
                    format!("the edge to `{}` reads later", self.instances[*to].shown)
                }
                EdgeTarget::End(_) => "an edge to an end reads later".to_owned(),
            },
            Reader::Output => "the flow returns".to_owned(),
        }
    }
}

/// A trait to clone a value that is read later, so that the error for a type that is not `Clone`
/// says who reads it.
pub(super) fn clone_trait(
    name: &Ident,
    [message, label, note]: [&str; 3],
    site: Span,
) -> TokenStream {
    quote_spanned! {site=>
        #[diagnostic::on_unimplemented(message = #message, label = #label, note = #note)]
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
