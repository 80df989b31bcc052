//! The flows inside a flow, so that flows which contain each other are reported once.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash as _, Hasher as _};

use proc_macro2::{Ident, TokenStream};
use quote::{quote, quote_spanned};

use crate::flow::instances::Instances;
use crate::flow::syntax::FlowSyntax;
use crate::flow::types::{inner_flows, named_type};
use crate::names::plain;
use crate::runtime::Runtime;

/// `impl Node`, which names the flows inside the flow.
pub(super) fn node(flow: &FlowSyntax, instances: &Instances, runtime: &Runtime) -> TokenStream {
    let rt = runtime.hidden();
    let (name, valued) = (&flow.name, valued(flow, instances));
    if valued.is_empty() {
        return quote!(#rt::inside! { #name });
    }
    let (text, place) = (plain(name), place_number(name));
    let inner = valued.iter().map(|node| {
        let site = node.span();
        let rt = runtime.hidden_at(site);
        quote_spanned!(site=> <<#node as #rt::Node>::Inside as #rt::Inside>::VALUE.__nesting())
    });
    quote! {
        #rt::inside! { #name name: #text, place: #place, inner: [#(#inner),*] }
    }
}

/// The constant that [`inner_flows`] names.
pub(super) fn check(flow: &FlowSyntax, instances: &Instances) -> TokenStream {
    let rt = flow.runtime.hidden();
    let (name, valued) = (&flow.name, valued(flow, instances));
    if valued.is_empty() {
        return TokenStream::new();
    }
    let checks = valued.iter().enumerate().map(|(index, node)| {
        quote_spanned!(node.span()=> <<#name as #rt::Node>::Inside as #rt::Inside>::VALUE.__nesting().with(#index))
    });
    quote!(impl #name { const INNER_FLOWS: ::core::primitive::usize = #(#checks)+*; })
}

/// The constant, if there is one. If it cannot be evaluated, rustc points at each use: at a node,
/// as all other uses do.
pub(super) fn checked(flow: &FlowSyntax, instances: &Instances) -> Option<TokenStream> {
    let valued = valued(flow, instances);
    valued.first().map(|first| inner_flows(flow, first.span()))
}

/// The types of the nodes that have a value.
fn valued(flow: &FlowSyntax, instances: &Instances) -> Vec<Ident> {
    let all = instances.iter().map(|(_, instance)| instance);
    let valued = all.filter(|instance| instance.is_type() && !crate::editor::expands());
    valued.map(|instance| named_type(flow, instance)).collect()
}

/// A number for the place of a name, which grows within a file.
fn place_number(name: &Ident) -> u64 {
    let span = name.span();
    let mut hasher = DefaultHasher::new();
    span.file().hash(&mut hasher);
    let (line, column) = (span.start().line as u64, span.start().column as u64);
    hasher.finish() << 32 | (line << 8 | column & 0xff) & 0xffff_ffff
}
