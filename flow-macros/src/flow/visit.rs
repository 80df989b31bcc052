//! One node in the loop, in a branch of a fork or in a loop over items: hands it what it reads, has it carried out,
//! and writes what it returned.
//!
//! Generated code knows the engine as `engine`, the place of the run as `scope`, and the store by the names that
//! [`Place`] says.

use flow_spec::{Code, ERROR_KEY, NodeId, Take};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote_spanned};
use syn::LitStr;

use crate::contract::{ActionPort, Contract, Kind, Mode, ReadPort, TIMEOUT_ACTION, WritePort};
use crate::names::{here, hidden, ident, located, plain};
use crate::protocol::runtime_at;
use crate::settings::{Settings, duration_tokens};

use super::drive::Drive;
use super::fork::BranchStore;
use super::instances::{Instance, InstanceKind};
use super::resolve::{key_of, mapping};
use super::store::{Store, agreement_trait, is_option};
use super::syntax::Mapping;

/// One node, and what its expansion needs.
pub(super) struct Visit<'a> {
    pub(super) drive: &'a Drive<'a>,
    pub(super) store: &'a Store,
    pub(super) index: usize,
    pub(super) instance: &'a Instance,
    pub(super) contract: &'a Contract,
    pub(super) settings: Settings,
    /// Where all of it is shown.
    pub(super) site: Span,
    pub(super) rt: TokenStream,
    /// Of a function, a type or a flow.
    pub(super) path: TokenStream,
    mapping: &'a [Mapping],
    pub(super) place: Place<'a>,
}

/// Where in the flow a node stands, and with that where its keys are.
#[derive(Clone, Copy)]
pub(super) enum Place<'a> {
    /// In the flow's own loop: `state` is the store.
    Loop,
    /// In a branch of a fork: `base` is the store as it stood at the fork, `own` is what the branch writes.
    Branch(&'a BranchStore),
    /// The body of a loop over items, the node `of`, which stands in the loop or in a branch: the store cannot be
    /// changed, and `item` is the item.
    Item {
        branch: Option<&'a BranchStore>,
        item: &'a Ident,
        of: usize,
    },
}

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

impl<'a> Visit<'a> {
    pub(super) fn new(
        drive: &'a Drive<'a>,
        store: &'a Store,
        index: usize,
        place: Place<'a>,
    ) -> Self {
        let instance = &drive.instances.list[index];
        let site = here(instance.span);
        Visit {
            drive,
            store,
            index,
            instance,
            contract: &drive.resolved.contracts[index],
            settings: instance
                .declared(drive.flow)
                .map(|node| node.settings.clone())
                .unwrap_or_default(),
            site,
            rt: runtime_at(site),
            path: instance.path().map(located).unwrap_or_default(),
            mapping: mapping(drive.flow, instance),
            place,
        }
    }

    /// What the engine must be able to do for it.
    pub(super) fn bounds(&self) -> Vec<TokenStream> {
        let Visit { rt, path, .. } = self;
        let of = |index: usize| Visit::new(self.drive, self.store, index, self.place).bounds();
        match &self.instance.kind {
            InstanceKind::Node(_) if self.contract.kind == Kind::Flow => {
                vec![quote_spanned!(self.site=> #path: #rt::Drive<__E>)]
            }
            InstanceKind::Node(_) => {
                vec![quote_spanned!(self.site=> __E: #rt::Engine<#path>)]
            }
            InstanceKind::Fork(branches) => branches
                .iter()
                .flatten()
                .flat_map(|&node| of(node))
                .collect(),
            InstanceKind::Each { body, .. } => of(*body),
            InstanceKind::Branch(_) | InstanceKind::Wait(_) => Vec::new(),
        }
    }

    /// The name of its `async fn`.
    pub(super) fn function(&self) -> Ident {
        hidden("visit", &plain(&self.instance.name), self.instance.span)
    }

    /// Its `async fn`, and those that it calls. In the loop it gives the index of the route that the node took.
    pub(super) fn expand(&self) -> TokenStream {
        let rt = &self.rt;
        let name = self.function();
        let (body, more) = self.body();
        let bounds = self.bounds();
        let (store, result) = match self.place {
            Place::Branch(branch) => {
                let own = &branch.name;
                let store = quote_spanned!(self.site=> base: &__State, own: &mut #own,);
                (store, quote_spanned!(self.site=> ()))
            }
            _ => (
                quote_spanned!(self.site=> state: &mut __State,),
                quote_spanned!(self.site=> usize),
            ),
        };
        quote_spanned! {self.site=>
            #more
            #[inline]
            async fn #name<__E>(
                &self, engine: &__E, scope: &#rt::Scope<'_>, #store
            ) -> ::core::result::Result<#result, #rt::Failed>
            where
                __E: #rt::Hooks,
                #(#bounds,)*
            {
                #body
            }
        }
    }

    /// The body of its `async fn`, and further functions.
    fn body(&self) -> (TokenStream, TokenStream) {
        let (rt, site) = (&self.rt, self.site);
        match &self.instance.kind {
            InstanceKind::Node(_) => {
                let (traits, carried_out) = self.carried_out();
                let outcome = self.outcome(carried_out);
                let route = self.written();
                let body = quote_spanned! {site=>
                    #(#traits)*
                    #outcome
                    ::core::result::Result::Ok(#route)
                };
                (body, TokenStream::new())
            }
            InstanceKind::Fork(branches) => self.fork(branches),
            InstanceKind::Each { body, item, .. } => self.each(*body, item),
            InstanceKind::Branch(index) => (self.branch(*index), TokenStream::new()),
            InstanceKind::Wait(duration) => {
                let duration = duration_tokens(*duration);
                let route = self.route(flow_spec::DEFAULT_ACTION);
                let body = quote_spanned! {site=>
                    #rt::Hooks::wait(engine, scope, #duration).await?;
                    ::core::result::Result::Ok(#route)
                };
                (body, TokenStream::new())
            }
        }
    }

    /// Looks at conditions, the first that holds says the action.
    fn branch(&self, index: usize) -> TokenStream {
        let (rt, site) = (&self.rt, self.site);
        let branch = &self.drive.flow.branches[index];
        // Bound all at once: one may have the name of what generated code reads the next one from.
        let names = &branch.reads;
        let values = self.contract.reads.iter().enumerate();
        let values = values.map(|(read, port)| self.value(read, port).0);
        let route = |label: &LitStr| self.route(&label.value());
        let cases = branch.cases.iter().map(|(condition, label)| {
            let route = route(label);
            quote_spanned!(site=> if #condition { #route } else)
        });
        let otherwise = branch.otherwise.as_ref().map(route);
        quote_spanned! {site=>
            let (#(#names,)*) = (#(#values,)*);
            ::core::result::Result::<usize, #rt::Failed>::Ok(#(#cases)* { #otherwise })
        }
    }

    /// The outcome of a node that was carried out; if it has failed, its route or the failure.
    pub(super) fn outcome(&self, carried_out: TokenStream) -> TokenStream {
        let (rt, site) = (&self.rt, self.site);
        let timeout = match self.contract.poll {
            true => self.drive.route(self.index, TIMEOUT_ACTION),
            false => None,
        };
        let error = self.drive.error_route(self.index, self.contract);
        if timeout.is_none() && error.is_none() {
            return quote_spanned!(site=> let outcome = #carried_out?;);
        }
        let timeout = timeout.map(|route| {
            quote_spanned! {site=>
                if #rt::is_deadline(&failed) {
                    return ::core::result::Result::Ok(#route);
                }
            }
        });
        let error = match error {
            Some(route) => {
                let write = self.write(ERROR_KEY, quote_spanned!(site=> #rt::node_error(failed)?));
                quote_spanned!(site=> #write return ::core::result::Result::Ok(#route);)
            }
            None => quote_spanned!(site=> return ::core::result::Result::Err(failed);),
        };
        quote_spanned! {site=>
            let outcome = match #carried_out {
                ::core::result::Result::Ok(outcome) => outcome,
                ::core::result::Result::Err(failed) => { #timeout #error }
            };
        }
    }

    /// Has a function, a type or a flow carried out: an expression of its outcome or failure, and the traits by which
    /// values are cloned for it.
    pub(super) fn carried_out(&self) -> (Vec<TokenStream>, TokenStream) {
        let (traits, arguments) = self.arguments();
        let carried_out = match self.contract.kind {
            Kind::Flow => self.flow(&arguments),
            Kind::Function | Kind::Type => self.step(&arguments),
        };
        (traits, carried_out)
    }

    fn step(&self, arguments: &[Argument]) -> TokenStream {
        let Visit { rt, path, site, .. } = self;
        let policy = self
            .settings
            .policy(&quote_spanned!(*site=> <#path as #rt::Step>::POLICY));
        let receiver = self.instance.is_type().then(|| {
            let field = &self.instance.name;
            quote_spanned!(*site=> &self.#field,)
        });
        let visit = self.contract.visit.then(|| quote_spanned!(*site=> visit,));
        let (bindings, names) = bound(arguments, *site);
        let mut work = quote_spanned!(*site=> <#path>::__step(#receiver #visit #(#names),*));
        if self.settings.timeout.is_some() && !self.contract.attempts {
            work = quote_spanned!(*site=> async {
                let work = ::core::pin::pin!(#work);
                visit.within_timeout(work).await
            });
        }
        quote_spanned!(*site=> {
            static POLICY: #rt::Policy = #policy;
            let visit = #rt::Visit::new(scope, &POLICY);
            #bindings
            let work = #work;
            #rt::Engine::<#path>::step(engine, visit, work).await
        })
    }

    /// A flow is tried again as a whole, if the flow around it says so.
    fn flow(&self, arguments: &[Argument]) -> TokenStream {
        let Visit { rt, path, site, .. } = self;
        let field = &self.instance.name;
        let (bindings, names) = bound(arguments, *site);
        let input = quote_spanned!(*site=> { #bindings <#path>::__input(#(#names),*) });
        let drive = quote_spanned! {*site=>
            let inner = scope.nested(<#path as #rt::Described>::INFO);
            let outcome: ::core::result::Result<<#path as #rt::Flow>::Output, #rt::Failed> =
                #rt::Drive::drive(&self.#field, engine, &inner, input).await;
            outcome
        };
        if self.settings.retry.is_none() && self.settings.timeout.is_none() {
            return quote_spanned!(*site=> { let input = #input; #drive });
        }
        let policy = self
            .settings
            .policy(&quote_spanned!(*site=> #rt::Policy::DEFAULT));
        let attempt = quote_spanned!(*site=> {
            let input = #input;
            let attempt = ::core::pin::pin!(async { #drive });
            let result = attempts.attempt_flow(attempt).await;
            result
        });
        if !self.repeats() {
            return quote_spanned!(*site=> {
                static POLICY: #rt::Policy = #policy;
                let attempts = #rt::Visit::new(scope, &POLICY).attempts();
                #attempt
            });
        }
        quote_spanned!(*site=> {
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
        let retries = self
            .settings
            .retry
            .as_ref()
            .is_some_and(|(_, retry)| retry.repeats());
        self.contract.kind == Kind::Flow && retries
    }

    /// The values that it reads, and the traits by which some of them are cloned.
    fn arguments(&self) -> (Vec<TokenStream>, Vec<Argument>) {
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
        let take = match self.drive.resolved.graph.take(NodeId(self.index), read) {
            Take::Move if self.repeats() => Take::Clone {
                later: Some(NodeId(self.index)),
            },
            take => take,
        };
        let slot = self.slot(read, &key);
        let value = match (&slot, port.mode) {
            (Slot::Nowhere, _) => quote_spanned!(site=> ::core::option::Option::None),
            (Slot::Item, Mode::Borrow) => quote_spanned!(site=> item),
            (Slot::Item, Mode::Take) => quote_spanned!(site=> #rt::TakeItem::take_item(item)),
            (Slot::Item, Mode::MaybeBorrow) => {
                quote_spanned!(site=> ::core::option::Option::Some(item))
            }
            (Slot::Item, Mode::MaybeDeref) => {
                quote_spanned!(site=> ::core::option::Option::Some(#rt::ReadsAs::read(item)))
            }
            (Slot::Item, Mode::MaybeTake) => {
                quote_spanned!(site=> ::core::option::Option::Some(#rt::TakeItem::take_item(item)))
            }
            (Slot::Owned(field) | Slot::Shared(field) | Slot::Taken(field), Mode::Borrow) => {
                quote_spanned!(site=> #rt::get(&#field))
            }
            (Slot::Owned(field) | Slot::Shared(field) | Slot::Taken(field), Mode::MaybeBorrow) => {
                quote_spanned!(site=> #field.as_ref())
            }
            (Slot::Owned(field) | Slot::Shared(field) | Slot::Taken(field), Mode::MaybeDeref) => {
                self.deref(quote_spanned!(site=> #field.as_ref()), &key)
            }
            (Slot::Either(own, base), Mode::Borrow) => {
                quote_spanned!(site=> #rt::either(&#own, &#base))
            }
            (Slot::Either(own, base), Mode::MaybeBorrow) => {
                quote_spanned!(site=> #own.as_ref().or(#base.as_ref()))
            }
            (Slot::Either(own, base), Mode::MaybeDeref) => self.deref(
                quote_spanned!(site=> #own.as_ref().or(#base.as_ref())),
                &key,
            ),
            (Slot::Taken(field), mode) if !self.repeats() => taken(&self.rt, field, mode, site),
            (Slot::Owned(field), mode) if take == Take::Move => taken(&self.rt, field, mode, site),
            (Slot::Owned(_) | Slot::Shared(_) | Slot::Taken(_) | Slot::Either(..), mode) => {
                let later = match take {
                    Take::Clone { later } => later,
                    Take::Move => Some(NodeId(self.index)),
                };
                let name = Ident::new(&format!("{key}_read_later"), site);
                let whole = match &slot {
                    Slot::Either(own, base) => {
                        quote_spanned!(site=> #own.as_ref().or(#base.as_ref()))
                    }
                    Slot::Owned(field) | Slot::Shared(field) | Slot::Taken(field) => {
                        quote_spanned!(site=> #field.as_ref())
                    }
                    _ => unreachable!("only these are cloned"),
                };
                let cloned = match mode {
                    Mode::Take => quote_spanned!(site=> #name::__clone(#rt::written(#whole))),
                    _ => quote_spanned!(site=> #whole.map(#name::__clone)),
                };
                let cloned = self.flattened(cloned, &key, port);
                return (cloned, Some(self.clone_trait(&name, &key, later)));
            }
        };
        (self.flattened(value, &key, port), None)
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

    /// A trait to clone what is read later, so that a type that is not `Clone` is told who reads it.
    fn clone_trait(&self, name: &Ident, key: &str, later: Option<NodeId>) -> TokenStream {
        let taker = &self.instance.shown;
        let reader = match later {
            Some(NodeId(reader)) if reader == self.index => "it may need again itself".to_owned(),
            Some(NodeId(reader)) => {
                format!("`{}` reads later", self.drive.instances.list[reader].shown)
            }
            None => "the flow returns".to_owned(),
        };
        let code = Code::TakenTooEarly;
        let message = format!(
            "`{taker}` takes `{key}`, which {reader}, and `{{Self}}` is not `Clone` [{code}]"
        );
        let note = match self.contract.kind {
            Kind::Flow => "derive `Clone` for `{Self}`: a flow takes its inputs".to_owned(),
            Kind::Function | Kind::Type => {
                format!(
                    "let `{taker}` read it by reference, as `&{{Self}}`, or derive `Clone` for `{{Self}}`"
                )
            }
        };
        quote_spanned! {self.site=>
            #[diagnostic::on_unimplemented(message = #message, label = "takes it by value", note = #note)]
            #[allow(non_camel_case_types)]
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

    /// Writes the outcome, and gives the route.
    fn written(&self) -> TokenStream {
        match self.contract.kind {
            Kind::Flow => self.written_by_flow(),
            Kind::Function | Kind::Type => self.written_by_step(),
        }
    }

    fn written_by_step(&self) -> TokenStream {
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
            type __Action = <#path as #rt::Step>::Actions;
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
        let variant = ident(&plain(variant), self.instance.span);
        let fields: Vec<Ident> = writes
            .iter()
            .map(|port| ident(&plain(&port.name), self.instance.span))
            .collect();
        let places: Vec<Ident> = (0..fields.len())
            .map(|index| format_ident!("field_{index}", span = site))
            .collect();
        let stores = writes
            .iter()
            .zip(&places)
            .map(|(port, place)| self.write_port(port, quote_spanned!(site=> #place)));
        let route = self.route(&name.value());
        quote_spanned!(site=> __Action::#variant { #(#fields: #places),* } => { #(#stores)* #route })
    }

    /// An output that a flow left unwritten leaves the key as it was.
    fn written_by_flow(&self) -> TokenStream {
        let Visit {
            rt,
            path,
            site,
            contract,
            ..
        } = self;
        let writes = contract.writes.iter().map(|port| {
            let field = ident(&plain(&port.name), self.instance.span);
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
                let variant = ident(&plain(variant), self.instance.span);
                let route = self.route(&name.value());
                quote_spanned!(*site=> __End::#variant => #route,)
            });
        quote_spanned!(*site=> {
            #(#writes)*
            type __End = <#path as #rt::Flow>::End;
            match outcome.end { #(#arms)* }
        })
    }

    fn write_port(&self, port: &WritePort, value: TokenStream) -> TokenStream {
        self.write(&plain(key_of(self.mapping, &port.name, false)), value)
    }

    /// Writes a value under a key.
    pub(super) fn write(&self, key: &str, value: TokenStream) -> TokenStream {
        let (site, field) = (self.site, ident(key, self.instance.span));
        let value = match self.store.shared(key) {
            Some(shared) => {
                let (ty, agreement) = (&shared.ty, agreement_trait(key, self.instance.span));
                quote_spanned!(site=> #agreement::<#ty>::agree(#value))
            }
            None => value,
        };
        let store = match self.place {
            Place::Branch(_) => quote_spanned!(site=> own),
            _ => quote_spanned!(site=> state),
        };
        quote_spanned!(site=> #store.#field = ::core::option::Option::Some(#value);)
    }

    /// The index of a route. In a branch there is nothing to choose.
    pub(super) fn route(&self, action: &str) -> TokenStream {
        let site = self.site;
        match (self.place, self.drive.route(self.index, action)) {
            (Place::Branch(_), _) => quote_spanned!(site=> ()),
            (_, Some(route)) => quote_spanned!(site=> #route),
            (_, None) => {
                quote_spanned!(site=> ::core::unreachable!("the analysis accepted an action without a route"))
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
