//! The mappings of an edge, as statements: all values are taken or cloned first, and then written
//! under the other keys.

use flow_spec::{Code, Reader};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote_spanned};

use crate::flow::plan::{EdgeWrite, Plan, RouteIndex};
use crate::flow::state::State;
use crate::names::{here, ident};

use super::told::said;

impl Plan<'_> {
    /// The statements of the mappings of an edge. Empty for an edge without mappings.
    pub(in crate::flow) fn mappings(&self, state: &State, route: RouteIndex) -> TokenStream {
        let writes = self.edge_writes(route);
        let spans = &self.flow.edges[route.0].mappings;
        let spans: Vec<Span> = spans.iter().map(|mapping| mapping.source.span()).collect();
        let taken = writes.iter().zip(&spans).enumerate();
        let taken = taken.map(|(index, (write, &span))| {
            let (place, value) = (mapped(index, span), self.mapped_value(state, write, span));
            quote_spanned!(here(span)=> let #place = #value;)
        });
        let written = writes.iter().zip(&spans).enumerate();
        let written = written.map(|(index, (write, &span))| {
            let (place, key) = (mapped(index, span), ident(write.key, span));
            quote_spanned!(here(span)=> __state.#key = #place;)
        });
        taken.chain(written).collect()
    }

    fn mapped_value(&self, state: &State, write: &EdgeWrite<'_>, span: Span) -> TokenStream {
        let (site, source) = (here(span), ident(write.source, span));
        let value = match write.later {
            None => quote_spanned!(site=> ::core::option::Option::take(&mut __state.#source)),
            Some(later) => self.mapped_clone(state, write, later, span),
        };
        match state.mapped(write.key, write.source) {
            Some(key) => {
                let source = state.ty(write.source);
                let message = key.told_by_edges(state.text(write.source).unwrap_or_default());
                let agreed = self.agreed(&source, &key.ty, &message, span);
                quote_spanned!(site=> #value.map(#agreed))
            }
            None => value,
        }
    }

    fn mapped_clone(
        &self,
        state: &State,
        write: &EdgeWrite<'_>,
        later: Reader,
        span: Span,
    ) -> TokenStream {
        let (site, field) = (here(span), ident(write.source, span));
        let EdgeWrite { key, source, .. } = write;
        let (reader, code) = (self.reads_later(later), Code::TakenTooEarly);
        let ty = said(state.text(source));
        let message = format!(
            "this edge gives `{key}` the value of `{source}`, which {reader}, and {ty} is not `Clone` [{code}]\n\
             help: derive `Clone` for {ty}"
        );
        let clone = self.cloned(state, source, None, &message, span);
        quote_spanned!(site=> ::core::option::Option::as_ref(&__state.#field).map(#clone))
    }
}

/// The variable of a value that a mapping took.
fn mapped(index: usize, span: Span) -> Ident {
    format_ident!("__mapped_{index}", span = here(span))
}
