//! The loop: one `match` over the nodes that only dispatches, and a small `async fn` for each node.

use std::collections::HashMap;

use flow_spec::{Code, ERROR_ACTION, ERROR_KEY, From, NodeId, Take};
use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote, quote_spanned};

use crate::contract::{ActionPort, Contract, Kind, Mode, ReadPort, WritePort};
use crate::names::{here, hidden, ident, plain};
use crate::protocol::runtime;

use super::instances::{Instance, Instances};
use super::items::{TypeNames, node_variant};
use super::resolve::{Resolved, key_of, mapping};
use super::syntax::{FlowSyntax, Mapping};

/// A key of the store.
struct Key {
    name: Ident,
    ty: TokenStream,
    /// The node that writes it first; nothing for an input.
    writer: Option<Ident>,
    /// How many writers it has.
    writers: usize,
}

/// All that the expansion looks things up in.
struct Drive<'a> {
    flow: &'a FlowSyntax,
    instances: &'a Instances,
    resolved: &'a Resolved<'a>,
    names: TypeNames,
    keys: Vec<Key>,
    key_index: HashMap<String, usize>,
    /// By node and action: the index of the route.
    routes: HashMap<(usize, String), usize>,
}

/// The second half of a flow's expansion.
pub(crate) fn expand(flow: &FlowSyntax, instances: &Instances, resolved: &Resolved<'_>) -> TokenStream {
    let mut drive = Drive {
        flow,
        instances,
        resolved,
        names: TypeNames::of(flow),
        keys: Vec::new(),
        key_index: HashMap::new(),
        routes: HashMap::new(),
    };
    for (index, edge) in resolved.graph.graph().edges.iter().enumerate() {
        if let From::Node(NodeId(node)) = edge.from {
            drive.routes.insert((node, edge.action().to_owned()), index);
        }
    }
    drive.collect_keys();
    drive.expand()
}

impl Drive<'_> {
    fn nodes(&self) -> impl Iterator<Item = (usize, &Instance, &Contract)> {
        let nodes = self.instances.list.iter().zip(&self.resolved.contracts).enumerate();
        nodes.map(|(index, (instance, contract))| (index, instance, *contract))
    }

    fn collect_keys(&mut self) {
        let rt = runtime();
        let mut found: Vec<(Ident, TokenStream, Option<Ident>)> = Vec::new();
        for input in &self.flow.inputs {
            let ty = &input.ty;
            found.push((input.name.clone(), quote!(#ty), None));
        }
        for (index, instance, contract) in self.nodes() {
            let (mapping, path) = (mapping(self.flow, instance), &instance.path);
            let mut write = |port: &WritePort, ty: TokenStream| {
                let key = key_of(mapping, &port.name, false);
                found.push((ident(&plain(key), instance.span()), ty, Some(instance.name.clone())));
            };
            for port in &contract.writes {
                let index = port.index;
                write(port, quote!(<#path as #rt::Writes<#index>>::Type));
            }
            for port in contract.actions.iter().flat_map(|action| &action.writes) {
                let index = port.index;
                write(port, quote!(<<#path as #rt::Step>::Actions as #rt::Writes<#index>>::Type));
            }
            if self.error_route(index, contract).is_some() {
                found.push((ident(ERROR_KEY, instance.span()), quote!(#rt::NodeError), Some(instance.name.clone())));
            }
        }
        for (name, ty, writer) in found {
            match self.key_index.get(&plain(&name)) {
                Some(&index) => self.keys[index].writers += 1,
                None => {
                    self.key_index.insert(plain(&name), self.keys.len());
                    self.keys.push(Key { name, ty, writer, writers: 1 });
                }
            }
        }
    }

    /// The route that a node takes when it has failed.
    fn error_route(&self, node: usize, contract: &Contract) -> Option<usize> {
        let fallible = self.resolved.graph.graph().nodes[node].fallible;
        let own = contract.actions.iter().any(|action| action.name.value() == ERROR_ACTION && contract.kind == Kind::Flow);
        (fallible && !own).then(|| self.routes.get(&(node, ERROR_ACTION.to_owned()))).flatten().copied()
    }

    fn expand(&self) -> TokenStream {
        let rt = runtime();
        let name = &self.flow.name;
        let TypeNames { input, output, node, .. } = &self.names;
        let state = self.state();
        let agreements = self.keys.iter().filter(|key| key.writers > 1).map(|key| self.agreement(key));
        let steps = self.nodes().map(|(index, instance, contract)| self.step(index, instance, contract));
        let arms = self.nodes().map(|(_, instance, _)| {
            let (variant, step) = (node_variant(instance), hidden("visit", &plain(&instance.name), instance.span()));
            quote!(#node::#variant => self.#step(engine, scope, &mut state).await?,)
        });
        let mut bounds: Vec<TokenStream> = Vec::new();
        let mut seen = std::collections::HashSet::new();
        for (_, instance, contract) in self.nodes() {
            let bound = self.bound(instance, contract);
            if seen.insert(bound.to_string()) {
                bounds.push(bound);
            }
        }
        let start = self.resolved.graph.graph().edges.iter().position(|edge| edge.from == From::Start).unwrap_or_default();
        let outputs = self.flow.outputs.iter().map(|output| {
            let field = &output.name;
            let slot = ident(&plain(field), field.span());
            let value = match (self.key_index.contains_key(&plain(field)), output.optional) {
                (false, _) => quote!(::core::option::Option::None),
                (true, true) => quote!(state.#slot),
                (true, false) => quote!(#rt::take(&mut state.#slot)),
            };
            let value = quote_spanned!(here(field.span())=> #value);
            quote!(#field: #value)
        });
        let dispatch = match self.instances.list.is_empty() {
            true => quote!(match node {}),
            false => quote!(match node { #(#arms)* }),
        };
        quote! {
            #[allow(
                non_local_definitions, private_bounds, private_interfaces, unreachable_code, unused_variables, unused_mut,
                clippy::let_unit_value, clippy::too_many_lines, clippy::unit_arg
            )]
            const _: () = {
                #state
                #(#agreements)*
                impl #name {
                    #(#steps)*
                    #[doc(hidden)]
                    #[inline]
                    pub async fn __drive<E>(
                        &self, engine: &E, scope: &#rt::Scope<'_>, input: #input,
                    ) -> ::core::result::Result<#output, #rt::Failed>
                    where
                        Self: #rt::Drive<E>,
                    {
                        #rt::Drive::drive(self, engine, scope, input).await
                    }
                }
                impl<E> #rt::Drive<E> for #name
                where
                    E: #rt::Hooks,
                    #(#bounds,)*
                {
                    async fn drive(
                        &self, engine: &E, scope: &#rt::Scope<'_>, input: #input,
                    ) -> ::core::result::Result<#output, #rt::Failed> {
                        let routes = <Self as #rt::Flow>::ROUTES;
                        let mut state = State::new(input);
                        let mut route: usize = #start;
                        let end = loop {
                            let node = match routes[route].to {
                                #rt::Target::End(end) => break end,
                                #rt::Target::Node(node) => node,
                            };
                            #rt::Hooks::entered(engine, scope, node as u16)?;
                            route = #dispatch;
                            #rt::Hooks::finished(engine, scope, routes[route].action);
                        };
                        #rt::Hooks::ended(engine, scope, end.as_str());
                        ::core::result::Result::Ok(#output { #(#outputs,)* end })
                    }
                }
            };
        }
    }

    /// The store: a field for each key.
    fn state(&self) -> TokenStream {
        let input = &self.names.input;
        let fields = self.keys.iter().map(|Key { name, ty, .. }| quote!(#name: ::core::option::Option<#ty>));
        let given = self.keys.iter().map(|Key { name, .. }| {
            let given = self.flow.inputs.iter().find(|input| plain(&input.name) == plain(name));
            match given {
                Some(given) => {
                    let field = &given.name;
                    match given.optional {
                        true => quote!(#name: input.#field),
                        false => quote!(#name: ::core::option::Option::Some(input.#field)),
                    }
                }
                None => quote!(#name: ::core::option::Option::None),
            }
        });
        quote! {
            #[allow(dead_code)]
            struct State { #(#fields,)* }
            impl State {
                #[inline]
                fn new(input: #input) -> Self {
                    State { #(#given,)* }
                }
            }
        }
    }

    /// A trait that all writers of a key go through, so that one of another type is told so in our words.
    fn agreement(&self, key: &Key) -> TokenStream {
        let name = &key.name;
        let agreement = hidden("agree", &plain(name), name.span());
        let first = match &key.writer {
            Some(writer) => format!("`{writer}` writes it as `{{First}}`"),
            None => "the flow's input is `{First}`".to_owned(),
        };
        let message = format!("this node writes `{name}` as `{{Self}}`, but {first} [{}]", Code::WriterTypes);
        let note = format!("help: a key has one type: write one of them under another key, by `writes = …` or by a mapping `{{ {name} -> other }}`");
        quote! {
            #[diagnostic::on_unimplemented(message = #message, label = "another type", note = #note)]
            #[allow(non_camel_case_types)]
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

    /// What the engine must be able to do for a node.
    fn bound(&self, instance: &Instance, contract: &Contract) -> TokenStream {
        let rt = runtime();
        let path = &instance.path;
        match contract.kind {
            Kind::Flow => quote!(#path: #rt::Drive<E>),
            Kind::Function | Kind::Type => quote!(E: #rt::Engine<<#path as #rt::Step>::Outcome>),
        }
    }

    /// The `async fn` of a node: carries it out, writes what it returned, and says which route it took.
    fn step(&self, index: usize, instance: &Instance, contract: &Contract) -> TokenStream {
        let rt = runtime();
        let name = hidden("visit", &plain(&instance.name), instance.span());
        let bound = self.bound(instance, contract);
        let carried_out = match contract.kind {
            Kind::Flow => self.carry_out_flow(index, instance, contract),
            Kind::Function | Kind::Type => self.carry_out_step(index, instance, contract),
        };
        let outcome = match self.error_route(index, contract) {
            None => quote!(let outcome = #carried_out?;),
            Some(route) => {
                let error = self.write(ident(ERROR_KEY, instance.span()), quote!(#rt::node_error(failed)?), instance);
                quote! {
                    let outcome = match #carried_out {
                        ::core::result::Result::Ok(outcome) => outcome,
                        ::core::result::Result::Err(failed) => {
                            #error
                            return ::core::result::Result::Ok(#route);
                        }
                    };
                }
            }
        };
        let written = self.written(index, instance, contract);
        quote! {
            #[inline]
            async fn #name<E>(
                &self, engine: &E, scope: &#rt::Scope<'_>, state: &mut State,
            ) -> ::core::result::Result<usize, #rt::Failed>
            where
                E: #rt::Hooks,
                #bound,
            {
                #outcome
                ::core::result::Result::Ok(#written)
            }
        }
    }

    fn policy(&self, instance: &Instance, base: TokenStream) -> TokenStream {
        match instance.declared(self.flow) {
            Some(node) => node.settings.policy(&base),
            None => base,
        }
    }

    fn carry_out_step(&self, index: usize, instance: &Instance, contract: &Contract) -> TokenStream {
        let rt = runtime();
        let span = here(instance.span());
        let path = &instance.path;
        let policy = self.policy(instance, quote!(<#path as #rt::Step>::POLICY));
        let (traits, arguments) = self.arguments(index, instance, contract);
        let receiver = instance.is_type.then(|| {
            let field = &instance.name;
            quote!(&self.#field,)
        });
        let visit_argument = contract.visit.then(|| quote!(visit,));
        let mut work = quote_spanned!(span=> <#path>::__step(#receiver #visit_argument #(#arguments),*));
        let times_out = instance.declared(self.flow).is_some_and(|node| node.settings.timeout.is_some());
        if times_out && !contract.attempts {
            work = quote!(visit.within_timeout(#work));
        }
        quote!({
            #(#traits)*
            static POLICY: #rt::Policy = #policy;
            let visit = #rt::Visit::new(scope, &POLICY);
            let work = #work;
            #rt::Engine::<<#path as #rt::Step>::Outcome>::step(engine, visit, work).await
        })
    }

    fn carry_out_flow(&self, index: usize, instance: &Instance, contract: &Contract) -> TokenStream {
        let rt = runtime();
        let span = here(instance.span());
        let path = &instance.path;
        let field = &instance.name;
        let (traits, arguments) = self.arguments(index, instance, contract);
        let settings = instance.declared(self.flow).map(|node| &node.settings);
        let faults = settings.is_some_and(|settings| settings.retry.is_some() || settings.timeout.is_some());
        let input = quote_spanned!(span=> <#path>::__input(#(#arguments),*));
        let output = quote!(<#path as #rt::Flow>::Output);
        if !faults {
            return quote!({
                #(#traits)*
                let input = #input;
                let inner = scope.nested(<#path as #rt::Described>::INFO);
                let outcome: ::core::result::Result<#output, #rt::Failed> =
                    #rt::Drive::drive(&self.#field, engine, &inner, input).await;
                outcome
            });
        }
        let policy = self.policy(instance, quote!(#rt::Policy::DEFAULT));
        quote!({
            #(#traits)*
            static POLICY: #rt::Policy = #policy;
            let mut attempts = #rt::Visit::new(scope, &POLICY).attempts();
            loop {
                let input = #input;
                let attempt = async {
                    let inner = scope.nested(<#path as #rt::Described>::INFO);
                    let outcome: ::core::result::Result<#output, #rt::Failed> =
                        #rt::Drive::drive(&self.#field, engine, &inner, input).await;
                    outcome
                };
                match attempts.attempt_flow(attempt).await {
                    ::core::result::Result::Ok(output) => break ::core::result::Result::Ok(output),
                    ::core::result::Result::Err(failed) => {
                        if let ::core::result::Result::Err(failed) = attempts.flow_again(failed).await {
                            break ::core::result::Result::Err(failed);
                        }
                    }
                }
            }
        })
    }

    /// The values that a node reads, as arguments, and the traits by which some of them are cloned.
    fn arguments(&self, index: usize, instance: &Instance, contract: &Contract) -> (Vec<TokenStream>, Vec<TokenStream>) {
        let mapping = mapping(self.flow, instance);
        let mut traits = Vec::new();
        let mut arguments = Vec::new();
        for (read, port) in contract.reads.iter().enumerate() {
            let (argument, its_trait) = self.argument(index, read, port, mapping, instance);
            arguments.push(argument);
            traits.extend(its_trait);
        }
        (traits, arguments)
    }

    fn argument(
        &self,
        index: usize,
        read: usize,
        port: &ReadPort,
        mapping: &[Mapping],
        instance: &Instance,
    ) -> (TokenStream, Option<TokenStream>) {
        let rt = runtime();
        let span = here(instance.span());
        let key = plain(key_of(mapping, &port.name, true));
        if !self.key_index.contains_key(&key) {
            return (quote_spanned!(span=> ::core::option::Option::None), None);
        }
        let slot = ident(&key, instance.span());
        let take = match self.resolved.graph.take(NodeId(index), read) {
            Take::Move if self.repeats(instance) => Take::Clone { later: Some(NodeId(index)) },
            take => take,
        };
        let argument = match (port.mode, take) {
            (Mode::Borrow, _) => quote_spanned!(span=> #rt::get(&state.#slot)),
            (Mode::MaybeBorrow, _) => quote_spanned!(span=> state.#slot.as_ref()),
            (Mode::MaybeDeref, _) => quote_spanned!(span=> state.#slot.as_deref()),
            (Mode::Take, Take::Move) => quote_spanned!(span=> #rt::take(&mut state.#slot)),
            (Mode::MaybeTake, Take::Move) => quote_spanned!(span=> state.#slot.take()),
            (mode, Take::Clone { later }) => {
                let (name, its_trait) = self.clone_trait(&key, later, index, instance);
                let argument = match mode {
                    Mode::Take => quote_spanned!(span=> #name::__clone(#rt::get(&state.#slot))),
                    _ => quote_spanned!(span=> state.#slot.as_ref().map(#name::__clone)),
                };
                return (argument, Some(its_trait));
            }
        };
        (argument, None)
    }

    /// Whether a flow used as a node is tried again, and so needs its inputs again.
    fn repeats(&self, instance: &Instance) -> bool {
        let declaration = instance.declared(self.flow);
        declaration.is_some_and(|node| node.settings.retry.as_ref().is_some_and(|(_, retry)| retry.repeats()))
    }

    /// A trait to clone what is read later, so that a type that is not `Clone` is told who reads it.
    fn clone_trait(&self, key: &str, later: Option<NodeId>, index: usize, instance: &Instance) -> (Ident, TokenStream) {
        let name = hidden("clone", key, instance.span());
        let taker = &instance.name;
        let reader = match later {
            Some(NodeId(reader)) if reader == index => "may be needed again by itself".to_owned(),
            Some(NodeId(reader)) => format!("`{}` reads later", self.instances.list[reader].name),
            None => "the flow returns".to_owned(),
        };
        let message = format!("`{taker}` takes `{key}`, which {reader}, and `{{Self}}` is not `Clone` [{}]", Code::TakenTooEarly);
        let label = "takes it by value";
        let note = format!("help: let `{taker}` read it by reference, as `&{{Self}}`, or derive `Clone` for `{{Self}}`");
        let definition = quote! {
            #[diagnostic::on_unimplemented(message = #message, label = #label, note = #note)]
            #[allow(non_camel_case_types)]
            trait #name: Sized {
                fn __clone(&self) -> Self;
            }
            #[diagnostic::do_not_recommend]
            impl<T: ::core::clone::Clone> #name for T {
                #[inline]
                fn __clone(&self) -> Self { ::core::clone::Clone::clone(self) }
            }
        };
        (name, definition)
    }

    /// Writes what the node returned, and gives the route it took.
    fn written(&self, index: usize, instance: &Instance, contract: &Contract) -> TokenStream {
        if contract.kind == Kind::Flow {
            return self.written_by_flow(index, instance, contract);
        }
        let mapping = mapping(self.flow, instance);
        let places: Vec<Ident> = (0..contract.writes.len()).map(|index| format_ident!("written_{index}")).collect();
        let writes = contract.writes.iter().zip(&places).map(|(port, place)| {
            self.write(key_of(mapping, &port.name, false).clone(), quote!(#place), instance)
        });
        if contract.actions.is_empty() {
            let route = self.route(index, flow_spec::DEFAULT_ACTION);
            let taken_apart = match &places[..] {
                [] => quote!(),
                [place] => quote!(let #place = outcome;),
                places => quote!(let (#(#places),*) = outcome;),
            };
            return quote!({ #taken_apart #(#writes)* #route });
        }
        let taken_apart = match &places[..] {
            [] => quote!(let action = outcome;),
            places => quote!(let (#(#places,)* action) = outcome;),
        };
        let rt = runtime();
        let path = &instance.path;
        let arms = contract.actions.iter().map(|action| {
            let ActionPort { name, variant, writes } = action;
            let fields: Vec<&Ident> = writes.iter().map(|port| &port.name).collect();
            let places: Vec<Ident> = (0..fields.len()).map(|index| format_ident!("field_{index}")).collect();
            let stores = writes.iter().zip(&places).map(|(port, place)| {
                self.write(key_of(mapping, &port.name, false).clone(), quote!(#place), instance)
            });
            let route = self.route(index, &name.value());
            quote!(Action::#variant { #(#fields: #places),* } => { #(#stores)* #route })
        });
        quote!({
            #taken_apart
            #(#writes)*
            type Action = <#path as #rt::Step>::Actions;
            match action { #(#arms)* }
        })
    }

    fn written_by_flow(&self, index: usize, instance: &Instance, contract: &Contract) -> TokenStream {
        let rt = runtime();
        let mapping = mapping(self.flow, instance);
        let writes = contract.writes.iter().map(|port| {
            let field = ident(&plain(&port.name), instance.span());
            let key = key_of(mapping, &port.name, false).clone();
            if !port.optional {
                return self.write(key, quote!(outcome.#field), instance);
            }
            let write = self.write(key, quote!(value), instance);
            quote!(if let ::core::option::Option::Some(value) = outcome.#field { #write })
        });
        let path = &instance.path;
        let arms = contract.actions.iter().map(|ActionPort { name, variant, .. }| {
            let route = self.route(index, &name.value());
            quote!(End::#variant => #route,)
        });
        quote!({
            #(#writes)*
            type End = <#path as #rt::Flow>::End;
            match outcome.end { #(#arms)* }
        })
    }

    /// Writes a value under a key.
    fn write(&self, key: Ident, value: TokenStream, instance: &Instance) -> TokenStream {
        let span = here(instance.span());
        let slot = ident(&plain(&key), instance.span());
        let several = self.key_index.get(&plain(&key)).map(|&index| &self.keys[index]).filter(|key| key.writers > 1);
        let value = match several {
            Some(Key { ty, name, .. }) => {
                let agreement = hidden("agree", &plain(name), instance.span());
                quote_spanned!(span=> #agreement::<#ty>::agree(#value))
            }
            None => value,
        };
        quote!(state.#slot = ::core::option::Option::Some(#value);)
    }

    fn route(&self, node: usize, action: &str) -> TokenStream {
        let route = self.routes.get(&(node, action.to_owned())).copied();
        match route {
            Some(route) => quote!(#route),
            // The analysis has seen to it that every action is routed.
            None => quote!(::core::unreachable!("an action without a route")),
        }
    }
}
