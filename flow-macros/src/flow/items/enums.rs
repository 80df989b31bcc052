//! The enums of a flow's nodes and of its ends.

use std::collections::{HashMap, HashSet};

use flow_spec::{Action, DEFAULT_ACTION};
use proc_macro2::{Ident, TokenStream};
use quote::{quote, quote_spanned};
use syn::LitStr;

use crate::editor::out_of_sight_but;
use crate::flow::instances::{Instance, Instances};
use crate::flow::syntax::{EdgeSyntax, FlowSyntax, Parameter, StepSyntax};
use crate::names::{camel_case, here, ident, plain};

use super::attributes::{derives, said_of_the_flow};
use super::signature::outputs;
use crate::flow::types::TypeNames;

/// An end of a flow.
pub(super) struct End {
    pub(crate) label: String,
    pub(crate) variant: Ident,
}

/// The ends, each once, in the order written.
pub(super) fn ends(flow: &FlowSyntax) -> Vec<End> {
    let mut ends: Vec<End> = Vec::new();
    let (mut labels, mut variants) = (HashSet::new(), HashSet::new());
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
        let is_new = !labels.contains(&label) && !variants.contains(&variant);
        if is_new {
            labels.insert(label.clone());
            variants.insert(variant.clone());
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

/// An output at an end where it may be there.
pub(super) struct Field<'a> {
    /// Its index among the outputs.
    pub(super) index: usize,
    pub(super) output: &'a Parameter,
    /// True if every path to the end writes it.
    pub(super) is_certain: bool,
}

/// The outputs at the ends.
pub(super) struct Fields<'a> {
    outputs: Vec<&'a Parameter>,
    /// The index of each output, by its key.
    indices: HashMap<String, usize>,
    /// The values written at each end, by its label.
    written: HashMap<&'a str, &'a Action>,
}

impl<'a> Fields<'a> {
    pub(super) fn new(flow: &'a FlowSyntax, written: &'a [Action]) -> Self {
        let outputs: Vec<&Parameter> = outputs(flow).collect();
        let numbered = outputs.iter().enumerate();
        let indices = numbered.map(|(index, output)| (plain(&output.name), index));
        Fields {
            indices: indices.collect(),
            written: written.iter().map(|end| (&*end.name, end)).collect(),
            outputs,
        }
    }

    /// The outputs that may be there at an end. In a flow with mistakes, an unknown end counts as
    /// writing all of them, so that its users have no second error.
    pub(super) fn at(&self, label: &str) -> Vec<Field<'a>> {
        let field = |index: usize, is_certain: bool| Field {
            index,
            output: self.outputs[index],
            is_certain,
        };
        let Some(end) = self.written.get(label) else {
            let all = 0..self.outputs.len();
            return all.map(|index| field(index, true)).collect();
        };
        let fields = end.writes.iter().filter_map(|write| {
            let index = *self.indices.get(&write.key)?;
            Some(field(index, !write.optional))
        });
        let mut fields: Vec<Field<'_>> = fields.collect();
        fields.sort_by_key(|field| field.index);
        fields.dedup_by_key(|field| field.index);
        fields
    }
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
    // Shown at the name: rustc would show the whole call of the macro.
    let enumeration = quote_spanned! {here(flow.name.span())=>
        #vis enum #name { #(#[doc = #docs] #idents),* }
    };
    let rt = flow.runtime.hidden();
    quote! {
        #rt::names! {
            { #[doc = #documentation] #derives #allow #any #enumeration } #name { #(#idents #texts,)* }
        }
    }
}

fn columns(variants: &[(Ident, String, String)]) -> (Vec<&Ident>, Vec<&String>, Vec<&String>) {
    let idents = variants.iter().map(|(ident, _, _)| ident).collect();
    let docs = variants.iter().map(|(_, doc, _)| doc).collect();
    let texts = variants.iter().map(|(_, _, text)| text).collect();
    (idents, docs, texts)
}
