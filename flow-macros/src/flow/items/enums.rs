//! The enums of a flow's nodes and of its ends.

use std::collections::HashSet;

use flow_spec::{Action, DEFAULT_ACTION};
use proc_macro2::{Ident, TokenStream};
use quote::{quote, quote_spanned};
use syn::LitStr;

use crate::editor::out_of_sight_but;
use crate::flow::instances::{Instance, Instances};
use crate::flow::syntax::{EdgeSyntax, FlowSyntax, Parameter, StepSyntax};
use crate::names::{camel_case, here, ident, plain};

use super::attributes::{derives, said_of_the_flow};
use crate::flow::types::TypeNames;

/// An end of a flow.
pub(super) struct End {
    pub(crate) label: String,
    pub(crate) variant: Ident,
}

/// The ends, each once, in the order written.
pub(super) fn ends(flow: &FlowSyntax) -> Vec<End> {
    let mut ends: Vec<End> = Vec::new();
    let of_edge = |edge: &EdgeSyntax| match &edge.to {
        StepSyntax::End(span, label) => Some((*span, label.clone())),
        _ => None,
    };
    let written = flow.edges.iter().filter_map(of_edge);
    for (span, label) in written.chain(flow.unread_ends.iter().cloned()) {
        let label = label
            .as_ref()
            .map_or_else(|| DEFAULT_ACTION.to_owned(), LitStr::value);
        let variant = ident(&camel_case(&label), span);
        if ends
            .iter()
            .all(|end| end.label != label && end.variant != variant)
        {
            ends.push(End { label, variant });
        }
    }
    if ends.is_empty() {
        ends.push(End {
            label: DEFAULT_ACTION.to_owned(),
            variant: ident("Default", flow.name.span()),
        });
    }
    ends
}

/// Whether every path to an end writes an output: `None` if none does. An end about which nothing
/// is known, in a flow with mistakes, counts as writing all of them, so that its users have no
/// further error.
pub(super) fn is_certain(output: &Parameter, label: &str, written: &[Action]) -> Option<bool> {
    let Some(end) = written.iter().find(|end| end.name == label) else {
        return Some(true);
    };
    let key = plain(&output.name);
    let write = end.writes.iter().find(|write| write.key == key)?;
    Some(!write.optional)
}

/// The variant of the node enum.
pub(crate) fn node_variant(instance: &Instance) -> Ident {
    ident(&camel_case(&plain(&instance.name)), instance.span)
}

/// The enums of nodes and ends.
pub(super) fn enums(flow: &FlowSyntax, instances: &Instances, names: &TypeNames) -> TokenStream {
    let mut seen = HashSet::new();
    let nodes: Vec<(Ident, String, String)> = instances
        .named_ones()
        .map(|instance| {
            let name = plain(&instance.name);
            (node_variant(instance), format!("`{name}`"), name)
        })
        .filter(|(variant, ..)| seen.insert(variant.clone()))
        .collect();
    let ends: Vec<(Ident, String, String)> = ends(flow)
        .into_iter()
        .map(|End { label, variant }| (variant, format!("`end(\"{label}\")`"), label))
        .collect();
    let node = name_enum(
        flow,
        &TokenStream::new(),
        &names.node,
        &format!("The nodes of `{}`.", flow.name),
        &nodes,
    );
    const PRESENT: [&str; 8] = [
        "Debug",
        "Clone",
        "Copy",
        "PartialEq",
        "Eq",
        "Hash",
        "PartialOrd",
        "Ord",
    ];
    let end = name_enum(
        flow,
        &derives(flow, &PRESENT),
        &names.end,
        &format!("The ends of `{}`.", flow.name),
        &ends,
    );
    let variants: Vec<&Ident> = ends.iter().map(|(variant, ..)| variant).collect();
    let node = out_of_sight_but(node, [&names.node]);
    let end = out_of_sight_but(end, variants.into_iter().chain([&names.end]));
    quote!(#node #end)
}

/// An enum of names: variant, documentation, text.
fn name_enum(
    flow: &FlowSyntax,
    derives: &TokenStream,
    name: &Ident,
    documentation: &str,
    variants: &[(Ident, String, String)],
) -> TokenStream {
    let vis = &flow.vis;
    let allow = said_of_the_flow(flow);
    let (idents, docs, texts): (Vec<_>, Vec<_>, Vec<_>) = columns(variants);
    let any = (!variants.is_empty()).then(|| quote!(#[repr(u16)]));
    // Shown at the name: rustc would show all of the macro's call.
    let enumeration = quote_spanned! {here(flow.name.span())=>
        #vis enum #name { #(#[doc = #docs] #idents),* }
    };
    quote! {
        #[doc = #documentation]
        #[derive(
            ::core::fmt::Debug, ::core::clone::Clone, ::core::marker::Copy, ::core::cmp::PartialEq, ::core::cmp::Eq,
            ::core::hash::Hash, ::core::cmp::PartialOrd, ::core::cmp::Ord
        )]
        #derives
        #[allow(clippy::enum_variant_names, reason = "named as the flow says")]
        #allow
        #any
        #enumeration
        impl #name {
            /// All of them, in the order written.
            pub const ALL: &'static [Self] = Self::__ALL;
            // Under names that no variant has.
            #[doc(hidden)]
            pub const __ALL: &'static [Self] = &[#(Self::#idents),*];
            const __NAMES: &'static [&'static ::core::primitive::str] = &[#(#texts),*];
            /// The name, as the flow spells it.
            pub const fn as_str(self) -> &'static ::core::primitive::str {
                Self::__NAMES[self as ::core::primitive::usize]
            }
        }
        impl ::core::fmt::Display for #name {
            fn fmt(&self, __f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                __f.pad(Self::as_str(*self))
            }
        }
    }
}

fn columns(variants: &[(Ident, String, String)]) -> (Vec<&Ident>, Vec<&String>, Vec<&String>) {
    let idents = variants.iter().map(|(ident, _, _)| ident).collect();
    let docs = variants.iter().map(|(_, doc, _)| doc).collect();
    let texts = variants.iter().map(|(_, _, text)| text).collect();
    (idents, docs, texts)
}
