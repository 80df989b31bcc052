//! The state of a flow: a struct with a field for each key, whose type is that of the key's first
//! writer.

use std::collections::HashMap;

use flow_spec::{Code, ERROR_KEY, options};
use proc_macro2::{Group, Ident, Span, TokenStream, TokenTree};
use quote::quote_spanned;

use crate::contract::{Contract, Kind, WritePort};
use crate::names::{here, ident, plain};
use crate::runtime::Runtime;
use crate::text::{
    has_arguments, is_compared, is_plain, is_plain_text, item_of_slice, item_of_vec, type_text,
};

use super::results::{item_type, results_type};
use crate::flow::instances::{Instance, InstanceKind};
use crate::flow::mapped::{adds, key_of, mapping};
use crate::flow::plan::Plan;
use crate::flow::syntax::{EdgeMappingSyntax, FlowSyntax};
use crate::flow::types::{TypeNames, node_type};

/// The key for the results of a loop that adds them and whose items may run in parts. Only the state
/// in which an engine returns the results has it: the loop then adds them one after the other.
pub(super) fn spread_results(
    flow: &FlowSyntax,
    instance: &Instance,
    contract: &Contract,
) -> Option<String> {
    let InstanceKind::Each { .. } = instance.kind else {
        return None;
    };
    let spreads = instance.declared(flow)?.settings.spread.is_some();
    let adds = contract.writes.iter().any(|port| port.adds);
    (spreads && adds).then(|| format!("__results_of_{}", plain(&instance.name)))
}

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
    /// The type as written, or empty if it is not written.
    text: String,
    /// The source of its type, as the beginning of a sentence that the type ends.
    first: String,
    /// The number of inputs and nodes that write it.
    writers: usize,
    /// The number of mappings of edges that write it.
    mappings: usize,
    /// The number of nested `Option`s of its type.
    options: usize,
}

impl State {
    /// The keys that the inputs, the nodes and the edges write.
    pub(super) fn of(plan: &Plan<'_>, runtime: &Runtime) -> Self {
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
            if let (InstanceKind::Each { .. }, [port]) = (&instance.kind, &contract.writes[..])
                && !port.adds
            {
                let node = plan.resolved.graph.graph().node(id);
                let mut written = node.actions.iter().flat_map(|action| &action.writes);
                let text = written.next().map_or("", |write| &write.rust_type);
                let ty = results_type(plan, runtime, id);
                state.add(key(&port.name, &[]), ty, writer, text);
            }
            if let Some(name) = spread_results(plan.flow, instance, contract) {
                let body = plan.instances.body(id);
                let ty = item_type(plan, runtime, body);
                let name = ident(&name, instance.span);
                state.add(
                    name,
                    quote_spanned!(site=> ::std::vec::Vec<#ty>),
                    writer,
                    "",
                );
            }
            if plan.error_route(id, contract).is_some() {
                let rt = runtime.hidden_at(site);
                let name = ident(ERROR_KEY, instance.span);
                state.add(name, quote_spanned!(site=> #rt::NodeError), writer, "");
            }
            let (Some(_), false) = (instance.path(), plan.bodies.contains(&id)) else {
                continue;
            };
            let path = node_type(plan.flow, instance);
            let mapping = mapping(plan.flow, instance);
            let replaces = |port: &&WritePort| !adds(mapping, port);
            for port in contract.writes.iter().filter(replaces) {
                let ty = written_type(contract, port, &path, site, runtime);
                state.add(key(&port.name, mapping), ty, writer, &port.rust_type);
            }
            let of_actions = contract.actions.iter().flat_map(|action| &action.writes);
            for port in of_actions.filter(replaces) {
                let ty = type_written_by_action(contract, port, &path, site, runtime);
                state.add(key(&port.name, mapping), ty, writer, &port.rust_type);
            }
        }
        let edges = plan.flow.edges.iter();
        let mappings = edges.flat_map(|edge| &edge.mappings).collect();
        let waiting = state.map(mappings);
        state.add_added(plan, runtime);
        state.map(waiting);
        state
    }

    /// The first key to which a node adds and whose type nothing says, with that node: see
    /// [`told_of_type`].
    pub(super) fn untyped<'p>(&self, plan: &'p Plan<'_>) -> Option<(&'p Instance, String)> {
        plan.nodes().find_map(|(_, instance, contract)| {
            let mapping = mapping(plan.flow, instance);
            let mut added = contract.all_writes().filter(|port| adds(mapping, port));
            let key = added.find_map(|port| {
                let key = plain(key_of(mapping, &port.name, false));
                (!self.has(&key)).then_some(key)
            })?;
            Some((instance, key))
        })
    }

    /// Adds the keys that nodes only add to, with the type of the output, or else of the first
    /// reader.
    fn add_added(&mut self, plan: &Plan<'_>, runtime: &Runtime) {
        for (_, instance, contract) in plan.nodes() {
            let mapping = mapping(plan.flow, instance);
            for port in contract.all_writes().filter(|port| adds(mapping, port)) {
                let name = ident(&plain(key_of(mapping, &port.name, false)), instance.span);
                if self.has(&plain(&name)) {
                    continue;
                }
                if let Some((ty, first, text)) = type_of_added(plan, runtime, &plain(&name)) {
                    self.add(name, ty, &first, &text);
                }
            }
        }
    }

    fn add(&mut self, name: Ident, ty: TokenStream, first: &str, rust_type: &str) {
        match self.by_name.get(&plain(&name)) {
            Some(&index) => self.keys[index].writers += 1,
            None => self.push(Key {
                name,
                ty,
                text: rust_type.to_owned(),
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

    /// Adds the keys that edges write, and returns the mappings whose sources are not known. A key
    /// without other writers has the type of its source, which may come from another edge.
    fn map<'s>(&mut self, mut waiting: Vec<&'s EdgeMappingSyntax>) -> Vec<&'s EdgeMappingSyntax> {
        let mut before = usize::MAX;
        while waiting.len() < before {
            before = waiting.len();
            waiting.retain(|EdgeMappingSyntax { key, source }| {
                let Some(source) = self.get(&plain(source)) else {
                    return true;
                };
                let (ty, text) = (source.ty.clone(), source.text.clone());
                let (options, name) = (source.options, plain(&source.name));
                match self.by_name.get(&plain(key)) {
                    Some(&index) => self.keys[index].mappings += 1,
                    None => self.push(Key {
                        name: ident(&plain(key), key.span()),
                        ty,
                        text,
                        first: format!("`{name}`, whose value an edge gives it, is"),
                        writers: 0,
                        mappings: 1,
                        options,
                    }),
                }
                false
            });
        }
        waiting
    }

    /// A key.
    pub(super) fn get(&self, key: &str) -> Option<&Key> {
        self.by_name.get(key).map(|&index| &self.keys[index])
    }

    /// Returns true if the values of a key are `Option`s, and an optional reader wants their inner
    /// value, of this type.
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

    /// The type of a key as written, if it is.
    pub(super) fn text(&self, key: &str) -> Option<&str> {
        let text = self.get(key).map(|key| &*key.text);
        text.filter(|text| !text.is_empty())
    }

    /// The message for a node that reads a key as another type.
    pub(super) fn told_to_reader(&self, reader: &str, key: &str, by: &str, wanted: &str) -> String {
        let (first, written) = self
            .get(key)
            .map_or(("", ""), |key| (&*key.first, &*key.text));
        let code = Code::TypeMismatch;
        let fixed = match item_of_vec(written).filter(|_| !by.is_empty()) {
            Some(item) => format!("[{item}]"),
            None if written == "String" && !by.is_empty() => "str".to_owned(),
            None => written.to_owned(),
        };
        format!(
            "`{reader}` reads `{key}` as `{by}{wanted}`, but {first} `{written}` [{code}]\n\
             help: read it as `{by}{fixed}`, or map the read to another key: `{{ {key} <- other }}`"
        )
    }

    /// The message for an output that is declared as another type.
    pub(super) fn told_of_output(&self, key: &str, declared: &str) -> String {
        let (first, written) = self
            .get(key)
            .map_or(("", ""), |key| (&*key.first, &*key.text));
        let code = Code::TypeMismatch;
        format!(
            "the output `{key}` is declared as `{declared}`, but {first} `{written}` [{code}]\n\
             help: declare it as `{key}: {written}`"
        )
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

    /// The key, if a node writes it as a type that looks different from the key's.
    pub(super) fn shared(&self, key: &str, text: &str) -> Option<&Key> {
        let shared = self.get(key).filter(|key| key.writers > 1);
        shared.filter(|key| key.looks_otherwise(text))
    }

    /// The key, if an edge writes it from a source whose type looks different.
    pub(super) fn mapped(&self, key: &str, source: &str) -> Option<&Key> {
        let mapped = self.get(key).filter(|key| key.is_mapped_too());
        mapped.filter(|key| key.looks_otherwise(self.text(source).unwrap_or_default()))
    }

    /// The struct.
    pub(super) fn expand(
        &self,
        flow: &FlowSyntax,
        names: &TypeNames,
        runtime: &Runtime,
    ) -> TokenStream {
        let site = here(flow.name.span());
        let rt = runtime.hidden_at(site);
        let input = &names.input;
        let keys = self.keys.iter().map(|Key { name, ty, .. }| {
            let site = here(name.span());
            let mut inputs = flow.inputs.iter();
            let value = match inputs.find(|input| plain(&input.name) == plain(name)) {
                Some(input) if input.optional => quote_spanned!(site=> __input.#name),
                Some(_) => quote_spanned!(site=> #rt::Some(__input.#name)),
                None => quote_spanned!(site=> #rt::None),
            };
            quote_spanned!(site=> #name: {#ty} = #value,)
        });
        quote_spanned!(site=> #rt::state! { __input: #input { #(#keys)* } })
    }
}

/// The type of a key to which nodes only add, where it comes from as the beginning of a sentence,
/// and the type as written.
fn type_of_added(
    plan: &Plan<'_>,
    runtime: &Runtime,
    key: &str,
) -> Option<(TokenStream, String, String)> {
    let mut outputs = plan.flow.outputs.iter();
    if let Some(output) = outputs.find(|output| plain(&output.name) == key) {
        let (ty, text) = (&output.ty, type_text(&output.ty));
        let ty = quote_spanned!(here(output.name.span())=> #ty);
        return Some((ty, "the flow's output is".to_owned(), text));
    }
    let items = plan
        .nodes()
        .filter_map(|(id, instance, _)| match &instance.kind {
            InstanceKind::Each { item, .. } if plain(item) == key => Some(plan.instances.body(id)),
            _ => None,
        });
    let items: Vec<_> = items.collect();
    plan.nodes().find_map(|(id, instance, contract)| {
        if items.contains(&id) {
            return None;
        }
        let mapping = mapping(plan.flow, instance);
        let mut reads = contract.reads.iter().enumerate();
        let (index, port) = reads.find(|(_, port)| {
            !port.rust_type.is_empty() && plain(key_of(mapping, &port.name, true)) == key
        })?;
        let site = here(instance.span);
        let rt = runtime.hidden_at(site);
        let item = item_of_slice(&port.rust_type);
        let read = item.unwrap_or(&port.rust_type);
        let ty = match of_std(read, instance.span) {
            Some(ty) => ty,
            // Only rustc knows these types, and those of a generic node's parameters.
            None if !is_compared(read) || instance.path().is_none_or(has_arguments) => {
                return None;
            }
            None => {
                let path = node_type(plan.flow, instance);
                quote_spanned!(site=> <#path as #rt::ReadsAt<#index>>::Type)
            }
        };
        let (ty, text) = match item {
            Some(item) => (
                quote_spanned!(site=> ::std::vec::Vec<#ty>),
                format!("Vec<{item}>"),
            ),
            None if read == "str" => (ty, "String".to_owned()),
            None => (ty, read.to_owned()),
        };
        Some((ty, format!("`{}` reads it as", instance.shown), text))
    })
}

/// The tokens of a type of the standard library, whatever is in scope. `str` is read from a
/// `String`.
fn of_std(text: &str, span: Span) -> Option<TokenStream> {
    let site = here(span);
    let tokens: TokenStream = text.parse().ok()?;
    if !is_plain(&tokens) {
        return None;
    }
    Some(in_std(tokens, site))
}

fn in_std(tokens: TokenStream, site: Span) -> TokenStream {
    let full = |token: TokenTree| match token {
        TokenTree::Ident(name) => match name.to_string().as_str() {
            "str" | "String" => quote_spanned!(site=> ::std::string::String),
            "Vec" => quote_spanned!(site=> ::std::vec::Vec),
            "Option" => quote_spanned!(site=> ::core::option::Option),
            "Box" => quote_spanned!(site=> ::std::boxed::Box),
            "Arc" => quote_spanned!(site=> ::std::sync::Arc),
            "Cow" => quote_spanned!(site=> ::std::borrow::Cow),
            "Path" | "PathBuf" => quote_spanned!(site=> ::std::path::PathBuf),
            "Duration" => quote_spanned!(site=> ::core::time::Duration),
            "HashMap" | "BTreeMap" | "HashSet" | "BTreeSet" => {
                quote_spanned!(site=> ::std::collections::#name)
            }
            _ => quote_spanned!(site=> ::core::primitive::#name),
        },
        TokenTree::Group(group) => {
            let inner = in_std(group.stream(), site);
            TokenTree::Group(Group::new(group.delimiter(), inner)).into()
        }
        other => other.into(),
    };
    tokens.into_iter().map(full).collect()
}

/// The message for a key of which nothing says the type.
pub(super) fn told_of_type(adder: &str, key: &str) -> String {
    let code = Code::Addition;
    format!(
        "`{adder}` adds to `{key}`, and nothing says of which type it is [{code}]\n\
         help: return it as an output of the flow, such as `{key}: Vec<_>`: what reads it does not say it"
    )
}

/// The type that a node writes with every action.
pub(super) fn written_type(
    contract: &Contract,
    port: &WritePort,
    path: &TokenStream,
    site: Span,
    runtime: &Runtime,
) -> TokenStream {
    let (rt, index) = (runtime.hidden_at(site), port.index);
    if contract.writes_its_outcome() {
        contract.outcome_type(path, &rt, site)
    } else {
        quote_spanned!(site=> <#path as #rt::Writes<#index>>::Type)
    }
}

/// The type that a node writes with an action.
pub(super) fn type_written_by_action(
    contract: &Contract,
    port: &WritePort,
    path: &TokenStream,
    site: Span,
    runtime: &Runtime,
) -> TokenStream {
    let (rt, index) = (runtime.hidden_at(site), port.index);
    let actions = match contract.kind {
        Kind::Flow => quote_spanned!(site=> #path),
        _ => quote_spanned!(site=> <#path as #rt::Step>::Actions),
    };
    quote_spanned!(site=> <#actions as #rt::Writes<#index>>::Type)
}

impl Key {
    fn is_mapped_too(&self) -> bool {
        self.mappings > 0 && self.writers + self.mappings > 1
    }

    fn looks_otherwise(&self, text: &str) -> bool {
        text.is_empty() || text != self.text
    }

    /// The message for a node that writes the key as another type.
    pub(super) fn told_by_writers(&self, writer: &str, ty: &str) -> String {
        let name = &self.name;
        let message = format!("`{writer}` writes `{name}` as {}", said(ty));
        let help = format!(
            "a key has one type: let one of them write another key, by `writes = …` or by a mapping \
             `{{ {name} -> other }}`"
        );
        self.told(&message, Code::WriterTypes, &help)
    }

    /// The message for a node that adds a value of a type that cannot be added.
    pub(super) fn told_to_adder(&self, adder: &str, ty: &str) -> String {
        let (name, first, text) = (&self.name, &self.first, said(&self.text));
        let code = Code::Addition;
        let added = match ty {
            "" => "a value".to_owned(),
            ty => format!("`{ty}`"),
        };
        let help = match item_of_vec(&self.text) {
            Some(item) => format!("add `{item}`, `Vec<{item}>` or `Option<{item}>`"),
            None if self.surely_begins() => format!("add {text}, or let it write another key"),
            None => format!(
                "add what it can take, or implement `Accumulate<{}>` for {text}",
                if ty.is_empty() { "_" } else { ty }
            ),
        };
        format!(
            "`{adder}` adds {added} to `{name}`, which cannot take it: {first} {text} [{code}]\nhelp: {help}"
        )
    }

    /// The message for a node that adds to a key that may have no value yet.
    pub(super) fn told_to_beginner(&self, adder: &str) -> String {
        let (name, code) = (&self.name, Code::Addition);
        let text = match &*self.text {
            "" => "its type".to_owned(),
            text => format!("`{text}`"),
        };
        format!(
            "`{adder}` may be the first to add to `{name}`, and {text} has no `Default` to begin with [{code}]\n\
             help: derive `Default` for {text}, or make `{name}` an input of the flow"
        )
    }

    /// Returns true if the names of the types show that a value of this type can be added, so that
    /// rustc need not check.
    pub(super) fn surely_takes(&self, added: &str) -> bool {
        // Two other types may have the same name.
        if added.is_empty() || !is_plain_text(added) || !is_plain_text(&self.text) {
            return false;
        }
        match item_of_vec(&self.text) {
            Some(item) => added == item || added == self.text || added == format!("Option<{item}>"),
            None => added == self.text && self.surely_begins(),
        }
    }

    /// Returns true if the name of the type shows that it has a default.
    pub(super) fn surely_begins(&self) -> bool {
        let is_list = item_of_vec(&self.text).is_some();
        is_list || self.text == "String" || is_number(&self.text)
    }

    /// The message for an edge that writes the key as another type.
    pub(super) fn told_by_edges(&self, ty: &str) -> String {
        let message = format!(
            "this edge gives `{}` a value of {}",
            self.name,
            match ty {
                "" => "another type".to_owned(),
                ty => format!("type `{ty}`"),
            }
        );
        let help = match &*self.text {
            "" => "name a key of that type".to_owned(),
            text => format!("name a key of type `{text}`"),
        };
        self.told(&message, Code::TypeMismatch, &help)
    }

    fn told(&self, message: &str, code: Code, help: &str) -> String {
        let (first, text) = (&self.first, said(&self.text));
        format!("{message}, but {first} {text} [{code}]\nhelp: {help}")
    }
}

fn is_number(ty: &str) -> bool {
    const NUMBERS: [&str; 14] = [
        "u8", "u16", "u32", "u64", "u128", "usize", "i8", "i16", "i32", "i64", "i128", "isize",
        "f32", "f64",
    ];
    NUMBERS.contains(&ty)
}

/// A type in a message. Types of results are not written anywhere.
fn said(ty: &str) -> String {
    match ty {
        "" => "another type".to_owned(),
        ty => format!("`{ty}`"),
    }
}
