//! The `async fn` of one node: hands it what it reads, has it carried out, and writes what it returned. It gives the
//! index of the route that the node took.

use flow_spec::{Code, ERROR_KEY, NodeId, Take};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote_spanned};

use crate::contract::{ActionPort, Contract, Kind, Mode, ReadPort, WritePort};
use crate::names::{here, hidden, ident, located, plain};
use crate::protocol::runtime_at;
use crate::settings::Settings;

use super::drive::Drive;
use super::instances::Instance;
use super::resolve::{key_of, mapping};
use super::store::{Store, agreement_trait};
use super::syntax::Mapping;

/// One node, and what its expansion needs.
pub(super) struct Visit<'a> {
    drive: &'a Drive<'a>,
    store: &'a Store,
    index: usize,
    instance: &'a Instance,
    contract: &'a Contract,
    mapping: &'a [Mapping],
    settings: Settings,
    /// Where all of it is shown.
    site: Span,
    rt: TokenStream,
    path: TokenStream,
}

impl<'a> Visit<'a> {
    pub(super) fn new(drive: &'a Drive<'a>, store: &'a Store, index: usize) -> Self {
        let instance = &drive.instances.list[index];
        let site = here(instance.span());
        Visit {
            drive,
            store,
            index,
            instance,
            contract: drive.resolved.contracts[index],
            mapping: mapping(drive.flow, instance),
            settings: instance
                .declared(drive.flow)
                .map(|node| node.settings.clone())
                .unwrap_or_default(),
            site,
            rt: runtime_at(site),
            path: located(&instance.path),
        }
    }

    /// What the engine must be able to do for it.
    pub(super) fn bound(&self) -> TokenStream {
        let Visit { rt, path, .. } = self;
        match self.contract.kind {
            Kind::Flow => quote_spanned!(self.site=> #path: #rt::Drive<E>),
            Kind::Function | Kind::Type => {
                quote_spanned!(self.site=> E: #rt::Engine<<#path as #rt::Step>::Outcome>)
            }
        }
    }

    /// The `async fn`.
    pub(super) fn expand(&self) -> TokenStream {
        let rt = &self.rt;
        let name = hidden("visit", &plain(&self.instance.name), self.instance.span());
        let bound = self.bound();
        let (traits, arguments) = self.arguments();
        let carried_out = match self.contract.kind {
            Kind::Flow => self.flow(&arguments),
            Kind::Function | Kind::Type => self.step(&arguments),
        };
        let outcome = match self.drive.error_route(self.index, self.contract) {
            None => quote_spanned!(self.site=> let outcome = #carried_out?;),
            Some(route) => {
                let error = self.write(
                    ERROR_KEY,
                    quote_spanned!(self.site=> #rt::node_error(failed)?),
                );
                quote_spanned! {self.site=>
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
        let route = match self.contract.kind {
            Kind::Flow => self.route_of_flow(),
            Kind::Function | Kind::Type => self.route_of_step(),
        };
        quote_spanned! {self.site=>
            #[inline]
            async fn #name<E>(
                &self, engine: &E, scope: &#rt::Scope<'_>, state: &mut State,
            ) -> ::core::result::Result<usize, #rt::Failed>
            where
                E: #rt::Hooks,
                #bound,
            {
                #(#traits)*
                #outcome
                ::core::result::Result::Ok(#route)
            }
        }
    }

    /// Has a function or a type carried out: an expression of its outcome or failure.
    fn step(&self, arguments: &[Argument]) -> TokenStream {
        let Visit { rt, path, .. } = self;
        let policy = self
            .settings
            .policy(&quote_spanned!(self.site=> <#path as #rt::Step>::POLICY));
        let receiver = self.instance.is_type.then(|| {
            let field = &self.instance.name;
            quote_spanned!(self.site=> &self.#field,)
        });
        let visit = self
            .contract
            .visit
            .then(|| quote_spanned!(self.site=> visit,));
        let (bindings, names) = bound(arguments, self.site);
        let mut work = quote_spanned!(self.site=> <#path>::__step(#receiver #visit #(#names),*));
        if self.settings.timeout.is_some() && !self.contract.attempts {
            work = quote_spanned!(self.site=> visit.within_timeout(#work));
        }
        quote_spanned!(self.site=> {
            static POLICY: #rt::Policy = #policy;
            let visit = #rt::Visit::new(scope, &POLICY);
            #bindings
            let work = #work;
            #rt::Engine::<<#path as #rt::Step>::Outcome>::step(engine, visit, work).await
        })
    }

    /// The same for a flow, which is tried again as a whole if the flow around it says so.
    fn flow(&self, arguments: &[Argument]) -> TokenStream {
        let Visit { rt, path, .. } = self;
        let field = &self.instance.name;
        let (bindings, names) = bound(arguments, self.site);
        let input = quote_spanned!(self.site=> { #bindings <#path>::__input(#(#names),*) });
        let drive = quote_spanned! {self.site=>
            let inner = scope.nested(<#path as #rt::Described>::INFO);
            let outcome: ::core::result::Result<<#path as #rt::Flow>::Output, #rt::Failed> =
                #rt::Drive::drive(&self.#field, engine, &inner, input).await;
            outcome
        };
        if self.settings.retry.is_none() && self.settings.timeout.is_none() {
            return quote_spanned!(self.site=> { let input = #input; #drive });
        }
        let policy = self
            .settings
            .policy(&quote_spanned!(self.site=> #rt::Policy::DEFAULT));
        let attempt = quote_spanned!(self.site=> {
            let input = #input;
            attempts.attempt_flow(async { #drive }).await
        });
        if !self.repeats() {
            return quote_spanned!(self.site=> {
                static POLICY: #rt::Policy = #policy;
                let attempts = #rt::Visit::new(scope, &POLICY).attempts();
                #attempt
            });
        }
        quote_spanned!(self.site=> {
            static POLICY: #rt::Policy = #policy;
            let mut attempts = #rt::Visit::new(scope, &POLICY).attempts();
            loop {
                match #attempt {
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

    /// Whether a flow used as a node is tried again, and so needs its inputs again.
    fn repeats(&self) -> bool {
        self.contract.kind == Kind::Flow
            && self
                .settings
                .retry
                .as_ref()
                .is_some_and(|(_, retry)| retry.repeats())
    }

    /// The values that it reads, and the traits by which some of them are cloned.
    fn arguments(&self) -> (Vec<TokenStream>, Vec<Argument>) {
        let mut traits = Vec::new();
        let arguments = self.contract.reads.iter().enumerate().map(|(index, port)| {
            let (value, its_trait) = self.argument(index, port);
            traits.extend(its_trait);
            Argument {
                name: format_ident!("argument_{index}", span = self.site),
                value,
            }
        });
        let arguments = arguments.collect();
        (traits, arguments)
    }

    fn argument(&self, read: usize, port: &ReadPort) -> (TokenStream, Option<TokenStream>) {
        let (rt, site) = (&self.rt, self.site);
        let key = plain(key_of(self.mapping, &port.name, true));
        if !self.store.has(&key) {
            return (quote_spanned!(site=> ::core::option::Option::None), None);
        }
        let slot = ident(&key, self.instance.span());
        let take = match self.drive.resolved.graph.take(NodeId(self.index), read) {
            Take::Move if self.repeats() => Take::Clone {
                later: Some(NodeId(self.index)),
            },
            take => take,
        };
        let value = match (port.mode, take) {
            (Mode::Borrow, _) => quote_spanned!(site=> #rt::get(&state.#slot)),
            (Mode::MaybeBorrow, _) => quote_spanned!(site=> state.#slot.as_ref()),
            (Mode::MaybeDeref, _) => quote_spanned!(site=> state.#slot.as_ref().map(|value| #rt::ReadsAs::read(value))),
            (Mode::Take, Take::Move) => quote_spanned!(site=> #rt::take(&mut state.#slot)),
            (Mode::MaybeTake, Take::Move) => quote_spanned!(site=> state.#slot.take()),
            (mode, Take::Clone { later }) => {
                let name = Ident::new(&format!("{key}_read_later"), site);
                let value = match mode {
                    Mode::Take => quote_spanned!(site=> #name::__clone(#rt::get(&state.#slot))),
                    _ => quote_spanned!(site=> state.#slot.as_ref().map(#name::__clone)),
                };
                return (value, Some(self.clone_trait(&name, &key, later)));
            }
        };
        (value, None)
    }

    /// A trait to clone what is read later, so that a type that is not `Clone` is told who reads it.
    fn clone_trait(&self, name: &Ident, key: &str, later: Option<NodeId>) -> TokenStream {
        let taker = &self.instance.name;
        let reader = match later {
            Some(NodeId(reader)) if reader == self.index => "it may need again itself".to_owned(),
            Some(NodeId(reader)) => {
                format!("`{}` reads later", self.drive.instances.list[reader].name)
            }
            None => "the flow returns".to_owned(),
        };
        let code = Code::TakenTooEarly;
        let message = format!(
            "`{taker}` takes `{key}`, which {reader}, and `{{Self}}` is not `Clone` [{code}]"
        );
        let note = match self.contract.kind {
            Kind::Flow => "derive `Clone` for `{Self}`: a flow takes its inputs".to_owned(),
            Kind::Function | Kind::Type => format!(
                "let `{taker}` read it by reference, as `&{{Self}}`, or derive `Clone` for `{{Self}}`"
            ),
        };
        quote_spanned! {self.site=>
            #[diagnostic::on_unimplemented(message = #message, label = "takes it by value", note = #note)]
            #[allow(non_camel_case_types)]
            trait #name: Sized {
                fn __clone(&self) -> Self;
            }
            #[diagnostic::do_not_recommend]
            impl<T: ::core::clone::Clone> #name for T {
                #[inline]
                fn __clone(&self) -> Self { ::core::clone::Clone::clone(self) }
            }
        }
    }

    /// Writes what a step returned.
    fn route_of_step(&self) -> TokenStream {
        let Visit {
            rt,
            path,
            site,
            contract,
            ..
        } = self;
        let places: Vec<Ident> = (0..contract.writes.len())
            .map(|index| format_ident!("written_{index}", span = *site))
            .collect();
        let writes = contract
            .writes
            .iter()
            .zip(&places)
            .map(|(port, place)| self.write_port(port, quote_spanned!(*site=> #place)));
        if contract.actions.is_empty() {
            let route = self.route(flow_spec::DEFAULT_ACTION);
            let taken_apart = match &places[..] {
                [] => quote_spanned!(*site=> ),
                [place] => quote_spanned!(*site=> let #place = outcome;),
                places => quote_spanned!(*site=> let (#(#places),*) = outcome;),
            };
            return quote_spanned!(*site=> { #taken_apart #(#writes)* #route });
        }
        let taken_apart = match &places[..] {
            [] => quote_spanned!(*site=> let action = outcome;),
            places => quote_spanned!(*site=> let (#(#places,)* action) = outcome;),
        };
        let arms = contract.actions.iter().map(|action| self.arm(action));
        quote_spanned!(*site=> {
            #taken_apart
            #(#writes)*
            type Action = <#path as #rt::Step>::Actions;
            match action { #(#arms)* }
        })
    }

    /// The arm of one action: writes its fields.
    fn arm(&self, action: &ActionPort) -> TokenStream {
        let ActionPort {
            name,
            variant,
            writes,
        } = action;
        let site = self.site;
        let variant = ident(&plain(variant), self.instance.span());
        let fields: Vec<Ident> = writes
            .iter()
            .map(|port| ident(&plain(&port.name), self.instance.span()))
            .collect();
        let places: Vec<Ident> = (0..fields.len())
            .map(|index| format_ident!("field_{index}", span = site))
            .collect();
        let stores = writes
            .iter()
            .zip(&places)
            .map(|(port, place)| self.write_port(port, quote_spanned!(site=> #place)));
        let route = self.route(&name.value());
        quote_spanned!(site=> Action::#variant { #(#fields: #places),* } => { #(#stores)* #route })
    }

    /// Writes what a flow returned. An output that it left unwritten leaves the key as it was.
    fn route_of_flow(&self) -> TokenStream {
        let Visit {
            rt,
            path,
            site,
            contract,
            ..
        } = self;
        let writes = contract.writes.iter().map(|port| {
            let field = ident(&plain(&port.name), self.instance.span());
            if !port.optional {
                return self.write_port(port, quote_spanned!(*site=> outcome.#field));
            }
            let write = self.write_port(port, quote_spanned!(*site=> value));
            quote_spanned!(*site=> if let ::core::option::Option::Some(value) = outcome.#field { #write })
        });
        let arms = contract
            .actions
            .iter()
            .map(|ActionPort { name, variant, .. }| {
                let variant = ident(&plain(variant), self.instance.span());
                let route = self.route(&name.value());
                quote_spanned!(*site=> End::#variant => #route,)
            });
        quote_spanned!(*site=> {
            #(#writes)*
            type End = <#path as #rt::Flow>::End;
            match outcome.end { #(#arms)* }
        })
    }

    fn write_port(&self, port: &WritePort, value: TokenStream) -> TokenStream {
        self.write(&plain(key_of(self.mapping, &port.name, false)), value)
    }

    /// Writes a value under a key.
    fn write(&self, key: &str, value: TokenStream) -> TokenStream {
        let slot = ident(key, self.instance.span());
        let value = match self.store.shared(key) {
            Some(shared) => {
                let (ty, agreement) = (&shared.ty, agreement_trait(key, self.instance.span()));
                quote_spanned!(self.site=> #agreement::<#ty>::agree(#value))
            }
            None => value,
        };
        quote_spanned!(self.site=> state.#slot = ::core::option::Option::Some(#value);)
    }

    fn route(&self, action: &str) -> TokenStream {
        match self.drive.route(self.index, action) {
            Some(route) => quote_spanned!(self.site=> #route),
            None => {
                quote_spanned!(self.site=> ::core::unreachable!("the analysis accepted an action without a route"))
            }
        }
    }
}

/// A value that a node reads, and the name it is bound to: bound first, it has its own type, which is then coerced to
/// the parameter's, as `&String` is to `&str`.
struct Argument {
    name: Ident,
    value: TokenStream,
}

fn bound(arguments: &[Argument], site: Span) -> (TokenStream, Vec<&Ident>) {
    let bindings = arguments
        .iter()
        .map(|Argument { name, value }| quote_spanned!(site=> let #name = #value;));
    (
        bindings.collect(),
        arguments.iter().map(|argument| &argument.name).collect(),
    )
}
