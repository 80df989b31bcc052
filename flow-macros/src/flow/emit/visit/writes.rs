//! The values that a node writes, and the route that it takes.
//!
//! A key with several writers is written through a trait of the state, so that they agree on its
//! type.

use flow_spec::DEFAULT_ACTION;
use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote_spanned};

use crate::contract::{ActionPort, Kind, WritePort};
use crate::flow::emit::state::{type_written_by_action, written_type};
use crate::flow::mapped::{adds, key_of};
use crate::flow::plan::{Place, RouteIndex};
use crate::names::{ident, plain};

use super::Visit;
use super::additions::Added;

impl Visit<'_> {
    /// The pattern that destructures the outcome, and an expression that writes its values and
    /// returns the route.
    pub(super) fn written(&self) -> (TokenStream, TokenStream) {
        match self.contract.kind {
            Kind::Flow => self.written_by_flow(),
            Kind::Function | Kind::Type | Kind::Human | Kind::Signal => self.written_by_step(),
        }
    }

    fn written_by_step(&self) -> (TokenStream, TokenStream) {
        let Visit {
            rt,
            path,
            site,
            contract,
            ..
        } = self;
        let places: Vec<Ident> = (0..contract.writes.len())
            .map(|index| format_ident!("__written_{index}", span = *site))
            .collect();
        let writes = contract.writes.iter().zip(&places).map(|(port, place)| {
            let ty = || written_type(contract, port, path, *site, self.emit.runtime);
            self.write_port(port, quote_spanned!(*site=> #place), ty)
        });
        if contract.actions.is_empty() {
            let route = self.route_at_end(DEFAULT_ACTION);
            let outcome = match &places[..] {
                [] => quote_spanned!(*site=> _),
                [place] => quote_spanned!(*site=> #place),
                places => quote_spanned!(*site=> (#(#places),*)),
            };
            return (outcome, quote_spanned!(*site=> { #(#writes)* #route }));
        }
        let outcome = match &places[..] {
            [] => quote_spanned!(*site=> __action),
            places => quote_spanned!(*site=> (#(#places,)* __action)),
        };
        let arms = contract.actions.iter().map(|action| self.arm(action));
        let route = quote_spanned!(*site=> {
            #(#writes)*
            type __Action = <#path as #rt::Step>::Actions;
            match __action { #(#arms)* }
        });
        (outcome, route)
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
            .map(|index| format_ident!("__field_{index}", span = site))
            .collect();
        let written = writes.iter().zip(&places).map(|(port, place)| {
            let ty =
                || type_written_by_action(self.contract, port, &self.path, site, self.emit.runtime);
            self.write_port(port, quote_spanned!(site=> #place), ty)
        });
        let route = self.route_at_end(&name.value());
        quote_spanned!(site=> __Action::#variant { #(#fields: #places),* } => { #(#written)* #route })
    }

    /// Writes the outputs of a flow. An output that the flow left unwritten leaves the key as it
    /// was.
    fn written_by_flow(&self) -> (TokenStream, TokenStream) {
        let Visit {
            rt,
            path,
            site,
            contract,
            ..
        } = self;
        let writes = contract.outputs().into_iter().map(|port| {
            let field = ident(&plain(&port.name), self.instance.span);
            let ty = || type_written_by_action(contract, port, path, *site, self.emit.runtime);
            if contract.writes.iter().any(|one| one.index == port.index) {
                return self.write_port(port, quote_spanned!(*site=> __outcome.#field), ty);
            }
            let write = self.write_port(port, quote_spanned!(*site=> __value), ty);
            quote_spanned!(*site=> if let #rt::Some(__value) = __outcome.#field { #write })
        });
        let arms = contract
            .actions
            .iter()
            .map(|ActionPort { name, variant, .. }| {
                let variant = ident(&plain(variant), self.instance.span);
                let route = self.route(&name.value());
                quote_spanned!(*site=> __End::#variant => #route,)
            });
        let route = quote_spanned!(*site=> {
            #(#writes)*
            type __End = <#path as #rt::Flow>::End;
            match __outcome.end { #(#arms)* }
        });
        (quote_spanned!(*site=> __outcome), route)
    }

    fn write_port(
        &self,
        port: &WritePort,
        value: TokenStream,
        ty: impl FnOnce() -> TokenStream,
    ) -> TokenStream {
        let key = plain(key_of(self.mapping, &port.name, false));
        if adds(self.mapping, port) {
            let added = Added::of_port(key, ty(), port);
            return self.add(&added, &value);
        }
        self.write(&key, value, &port.rust_type, ty)
    }

    /// Writes a value under a key. If others write it as well, it has their type.
    pub(super) fn write(
        &self,
        key: &str,
        value: TokenStream,
        text: &str,
        ty: impl FnOnce() -> TokenStream,
    ) -> TokenStream {
        let site = self.site;
        let value = match self.state.shared(key, text) {
            Some(shared) => {
                let agreed = self.emit.agreed(&ty(), &shared.ty, self.instance.span);
                quote_spanned!(site=> #agreed(#value))
            }
            None => value,
        };
        self.written_under(key, &value)
    }

    /// Writes a value of the type of the key.
    pub(super) fn written_under(&self, key: &str, value: &TokenStream) -> TokenStream {
        let (rt, site) = (&self.rt, self.site);
        let field = ident(key, self.instance.span);
        let state = match self.place {
            Place::Branch(_) => quote_spanned!(site=> __own),
            _ => quote_spanned!(site=> __state),
        };
        quote_spanned!(site=> #state.#field = #rt::Some(#value);)
    }

    /// Follows a route, at the end of a block. In a branch, the block ends with its last statement,
    /// unless the visit chooses.
    fn route_at_end(&self, action: &str) -> TokenStream {
        match self.place {
            Place::Branch(_) if !self.chooses() => TokenStream::new(),
            _ => self.route(action),
        }
    }

    /// Follows a route: an expression of its index, or of `()` if the visit does not choose one.
    pub(super) fn route(&self, action: &str) -> TokenStream {
        let site = self.site;
        match (self.place, self.way(action)) {
            (Place::Branch(_), Some(way)) if self.chooses() => quote_spanned!(site=> #way),
            (Place::Branch(_), _) => quote_spanned!(site=> ()),
            (_, Some(route)) => self.follow(RouteIndex(route)),
            (_, None) => {
                quote_spanned!(site=> ::core::unreachable!("the analysis accepted an action without a route"))
            }
        }
    }

    /// Follows a route with this index. What the undo node will read is kept first, because the
    /// mappings of the edge may take it.
    pub(super) fn follow(&self, route: RouteIndex) -> TokenStream {
        let site = self.site;
        let (kept, mappings) = (self.kept_by(route), self.emit.mappings(route));
        let route = self.chooses().then_some(route);
        match (kept.is_empty() && mappings.is_empty(), route) {
            (true, Some(route)) => quote_spanned!(site=> #route),
            (_, route) => quote_spanned!(site=> { #kept #mappings #route }),
        }
    }
}
