//! The state of a flow: a struct with a field for each key, whose type is that of the key's first
//! writer.

use std::collections::HashMap;

use flow_spec::{Code, ERROR_KEY, options};
use proc_macro2::{Ident, Span, TokenStream};
use quote::quote_spanned;

use crate::contract::Kind;
use crate::names::{camel_case, here, ident, plain};
use crate::runtime::runtime_at;
use crate::text::type_text;

use super::instances::InstanceKind;
use super::mapped::{key_of, mapping};
use super::plan::Plan;
use super::results::results_type;
use super::syntax::{EdgeMappingSyntax, FlowSyntax};
use super::types::{TypeNames, node_type};

/// The keys of a flow.
#[derive(Default)]
pub(super) struct State {
    keys: Vec<Key>,
    by_name: HashMap<String, usize>,
}

/// A key of the state.
pub(super) struct Key {
    pub(super) name: Ident,
    pub(super) ty: TokenStream,
    /// What gives it its type, as the beginning of a sentence that the type ends.
    first: String,
    /// The number of inputs and nodes that write it.
    writers: usize,
    /// The number of mappings of edges that write it.
    mappings: usize,
    /// How many `Option`s its type is, one in the other.
    options: usize,
}

impl State {
    /// The keys that the inputs, the nodes and the edges write.
    pub(super) fn of(plan: &Plan<'_>) -> Self {
        let mut state = State::default();
        for input in &plan.flow.inputs {
            let (ty, text) = (&input.ty, type_text(&input.ty));
            let name = ident(&plain(&input.name), input.name.span());
            state.add(
                name,
                quote_spanned!(here(input.name.span())=> #ty),
                "the flow's input is",
                &text,
            );
        }
        for (id, instance, contract) in plan.nodes() {
            let site = here(instance.span);
            let writer = format!("`{}` writes it as", instance.shown);
            let writer = writer.as_str();
            let key =
                |port: &Ident, mapping| ident(&plain(key_of(mapping, port, false)), instance.span);
            if let (InstanceKind::Each { .. }, [port]) = (&instance.kind, &contract.writes[..]) {
                state.add(key(&port.name, &[]), results_type(plan, id), writer, "");
            }
            if plan.error_route(id, contract).is_some() {
                let rt = runtime_at(site);
                let name = ident(ERROR_KEY, instance.span);
                state.add(name, quote_spanned!(site=> #rt::NodeError), writer, "");
            }
            let (Some(_), false) = (instance.path(), plan.bodies.contains(&id)) else {
                continue;
            };
            let (rt, path, mapping) = (
                runtime_at(site),
                node_type(plan.flow, instance),
                mapping(plan.flow, instance),
            );
            for port in &contract.writes {
                let index = port.index;
                let ty = if contract.writes_its_outcome() {
                    quote_spanned!(site=> <#path as #rt::Step>::Outcome)
                } else {
                    quote_spanned!(site=> <#path as #rt::Writes<#index>>::Type)
                };
                state.add(key(&port.name, mapping), ty, writer, &port.rust_type);
            }
            let actions = match contract.kind {
                Kind::Flow => quote_spanned!(site=> #path),
                _ => quote_spanned!(site=> <#path as #rt::Step>::Actions),
            };
            for port in contract.actions.iter().flat_map(|action| &action.writes) {
                let index = port.index;
                let ty = quote_spanned!(site=> <#actions as #rt::Writes<#index>>::Type);
                state.add(key(&port.name, mapping), ty, writer, &port.rust_type);
            }
        }
        state.map(plan);
        state
    }

    fn add(&mut self, name: Ident, ty: TokenStream, first: &str, rust_type: &str) {
        match self.by_name.get(&plain(&name)) {
            Some(&index) => self.keys[index].writers += 1,
            None => self.push(Key {
                name,
                ty,
                first: first.to_owned(),
                writers: 1,
                mappings: 0,
                options: options(rust_type),
            }),
        }
    }

    fn push(&mut self, key: Key) {
        self.by_name.insert(plain(&key.name), self.keys.len());
        self.keys.push(key);
    }

    /// Adds the keys that edges write. One that nothing else writes has the type of its source,
    /// which may have it from a source of its own.
    fn map(&mut self, plan: &Plan<'_>) {
        let edges = plan.flow.edges.iter();
        let mut waiting: Vec<_> = edges.flat_map(|edge| &edge.mappings).collect();
        let mut before = usize::MAX;
        while waiting.len() < before {
            before = waiting.len();
            waiting.retain(|EdgeMappingSyntax { key, source }| {
                let Some(source) = self.get(&plain(source)) else {
                    return true;
                };
                let source = (source.ty.clone(), source.options, plain(&source.name));
                match self.by_name.get(&plain(key)) {
                    Some(&index) => self.keys[index].mappings += 1,
                    None => self.push(Key {
                        name: ident(&plain(key), key.span()),
                        ty: source.0,
                        first: format!("`{}`, whose value an edge gives it, is", source.2),
                        writers: 0,
                        mappings: 1,
                        options: source.1,
                    }),
                }
                false
            });
        }
    }

    fn get(&self, key: &str) -> Option<&Key> {
        self.by_name.get(key).map(|&index| &self.keys[index])
    }

    /// Returns true if the values of a key are `Option`s, and who may find the key missing wants
    /// what is in them, of this type.
    pub(super) fn flattens(&self, key: &str, wanted: &str) -> bool {
        let index = self.by_name.get(key);
        index.is_some_and(|&index| self.keys[index].options > options(wanted))
    }

    /// The type of a key that something writes.
    pub(super) fn ty(&self, key: &str) -> TokenStream {
        self.by_name
            .get(key)
            .map(|&index| self.keys[index].ty.clone())
            .unwrap_or_default()
    }

    /// The keys and their types.
    pub(super) fn types(&self) -> impl Iterator<Item = (String, &TokenStream)> {
        self.keys.iter().map(|key| (plain(&key.name), &key.ty))
    }

    /// The fields and their types.
    pub(super) fn fields(&self) -> impl Iterator<Item = (&Ident, &TokenStream)> {
        self.keys.iter().map(|key| (&key.name, &key.ty))
    }

    /// Returns true if anything writes the key.
    pub(super) fn has(&self, key: &str) -> bool {
        self.by_name.contains_key(key)
    }

    /// The key, if several nodes or inputs write it, which then have to agree on its type.
    pub(super) fn shared(&self, key: &str) -> Option<&Key> {
        self.get(key).filter(|key| key.writers > 1)
    }

    /// The key, if something else than one mapping writes it, and mappings have to agree on its
    /// type.
    pub(super) fn mapped(&self, key: &str) -> Option<&Key> {
        self.get(key).filter(|key| key.is_mapped_too())
    }

    /// The struct, and the traits that make writers agree.
    pub(super) fn expand(&self, flow: &FlowSyntax, names: &TypeNames) -> TokenStream {
        let site = here(flow.name.span());
        let rt = runtime_at(site);
        let input = &names.input;
        let fields = self.keys.iter().map(|Key { name, ty, .. }| {
            let site = here(name.span());
            let rt = runtime_at(site);
            quote_spanned!(site=> #name: #rt::Option<#ty>)
        });
        let given = self.keys.iter().map(|Key { name, .. }| {
            let given = flow
                .inputs
                .iter()
                .find(|input| plain(&input.name) == plain(name));
            match given {
                Some(given) if given.optional => quote_spanned!(site=> #name: input.#name),
                Some(_) => quote_spanned!(site=> #name: #rt::Some(input.#name)),
                None => quote_spanned!(site=> #name: #rt::None),
            }
        });
        let agreements = self
            .keys
            .iter()
            .filter(|key| key.writers > 1)
            .map(|key| key.agreement(flow));
        let mapped = self.keys.iter().filter(|key| key.is_mapped_too());
        let agreements = agreements.chain(mapped.map(|key| key.agreement_of_edges(flow)));
        quote_spanned! {site=>
            struct __State { #(#fields,)* }
            impl __State {
                #[inline]
                fn new(input: #input) -> Self {
                    __State { #(#given,)* }
                }
            }
            #(#agreements)*
        }
    }
}

/// The name of the trait that [`Key::agreement`] defines. rustc prints it, so it says something;
/// and prints its path as well if there is another one of the name.
pub(super) fn agreement_trait(key: &str, flow: &FlowSyntax, user: Span) -> Ident {
    let (key, flow) = (camel_case(key), camel_case(&plain(&flow.name)));
    Ident::new(&format!("TypeOf{key}In{flow}"), here(user))
}

/// The name of the trait that [`Key::agreement_of_edges`] defines.
pub(super) fn edge_agreement_trait(key: &str, flow: &FlowSyntax, user: Span) -> Ident {
    let (key, flow) = (camel_case(key), camel_case(&plain(&flow.name)));
    Ident::new(&format!("TypeOfMapped{key}In{flow}"), here(user))
}

impl Key {
    fn is_mapped_too(&self) -> bool {
        self.mappings > 0 && self.writers + self.mappings > 1
    }

    /// A trait through which all writers of the key write, so that the error for another type is in
    /// our words.
    fn agreement(&self, flow: &FlowSyntax) -> TokenStream {
        let name = &self.name;
        let trait_name = agreement_trait(&plain(name), flow, name.span());
        let message = format!(
            "this node writes `{name}` as `{{Self}}`, but {} `{{First}}` [{}]",
            self.first,
            Code::WriterTypes
        );
        let note = format!(
            "a key has one type: let one of them write another key, by `writes = …` or by a mapping \
             `{{ {name} -> other }}`"
        );
        self.agreement_trait(&trait_name, &message, &note)
    }

    /// A trait through which the edges that write the key do so.
    fn agreement_of_edges(&self, flow: &FlowSyntax) -> TokenStream {
        let name = &self.name;
        let trait_name = edge_agreement_trait(&plain(name), flow, name.span());
        let message = format!(
            "this edge gives `{name}` a value of type `{{Self}}`, but {} `{{First}}` [{}]",
            self.first,
            Code::TypeMismatch
        );
        let note = "name a key of type `{First}`";
        self.agreement_trait(&trait_name, &message, note)
    }

    fn agreement_trait(&self, agreement: &Ident, message: &str, note: &str) -> TokenStream {
        let site = here(self.name.span());
        quote_spanned! {site=>
            #[diagnostic::on_unimplemented(message = #message, label = "another type", note = #note)]
            trait #agreement<First> {
                fn agree(self) -> First;
            }
            #[diagnostic::do_not_recommend]
            impl<T> #agreement<T> for T {
                #[inline]
                fn agree(self) -> T { self }
            }
        }
    }
}
