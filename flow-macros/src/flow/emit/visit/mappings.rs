//! The mappings of an edge, as statements: all values are taken or cloned first, and then written
//! under the other keys.

use flow_spec::{Code, Reader};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote_spanned};

use crate::flow::emit::checks::said;
use crate::flow::emit::context::Emit;
use crate::flow::plan::{EdgeWrite, RouteIndex};
use crate::names::{here, ident};

impl Emit<'_> {
    /// The statements of the mappings of an edge. Empty for an edge without mappings.
    pub(in crate::flow::emit) fn mappings(&self, route: RouteIndex) -> TokenStream {
        let (writes, spans) = (self.plan.edge_writes(route), self.mapping_spans(route));
        let taken = writes.iter().zip(&spans).enumerate();
        let taken = taken.map(|(index, (write, &span))| {
            let (place, value) = (mapped(index, span), self.mapped_value(write, span));
            quote_spanned!(here(span)=> let #place = #value;)
        });
        let written = writes.iter().zip(&spans).enumerate();
        let written = written.map(|(index, (write, &span))| {
            let (place, key) = (mapped(index, span), ident(write.key, span));
            quote_spanned!(here(span)=> __state.#key = #place;)
        });
        taken.chain(written).collect()
    }

    fn mapped_value(&self, write: &EdgeWrite<'_>, span: Span) -> TokenStream {
        let (site, source) = (here(span), ident(write.source, span));
        let value = match write.later {
            None => quote_spanned!(site=> ::core::option::Option::take(&mut __state.#source)),
            Some(_) => {
                let clone = self.cloned(write.source, span);
                quote_spanned!(site=> ::core::option::Option::as_ref(&__state.#source).map(#clone))
            }
        };
        match self.state.mapped(write.key, write.source) {
            Some(key) => {
                let agreed = self.agreed(&self.state.ty(write.source), &key.ty, span);
                quote_spanned!(site=> #value.map(#agreed))
            }
            None => value,
        }
    }

    /// The checks of the values that the mappings of an edge take.
    pub(in crate::flow::emit) fn mapping_checks(&self, route: RouteIndex) -> Vec<TokenStream> {
        let (writes, spans) = (self.plan.edge_writes(route), self.mapping_spans(route));
        let mut checks = Vec::new();
        for (write, &span) in writes.iter().zip(&spans) {
            if let Some(later) = write.later {
                checks.extend(self.mapped_clone_check(write, later, span));
            }
            if let Some(key) = self.state.mapped(write.key, write.source) {
                let source = self.state.ty(write.source);
                let text = self.state.text(write.source).unwrap_or_default();
                let message = key.told_by_edges(text);
                checks.push(self.agreement_check(&source, &key.ty, &message, span));
            }
        }
        checks
    }

    fn mapped_clone_check(
        &self,
        EdgeWrite { key, source, .. }: &EdgeWrite<'_>,
        later: Reader,
        span: Span,
    ) -> Option<TokenStream> {
        let (reader, code) = (self.plan.reads_later(later), Code::TakenTooEarly);
        let ty = said(self.state.text(source));
        let message = format!(
            "this edge gives `{key}` the value of `{source}`, which {reader}, and {ty} is not `Clone` [{code}]\n\
             help: derive `Clone` for {ty}"
        );
        self.clone_check(source, None, &message, span)
    }

    /// The places of the sources in the mappings of an edge.
    fn mapping_spans(&self, RouteIndex(edge): RouteIndex) -> Vec<Span> {
        let mappings = self.flow.edges[edge].mappings.iter();
        mappings.map(|mapping| mapping.source.span()).collect()
    }
}

/// The variable of a value that a mapping took.
fn mapped(index: usize, span: Span) -> Ident {
    format_ident!("__mapped_{index}", span = here(span))
}
