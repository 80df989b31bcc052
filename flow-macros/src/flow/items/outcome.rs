//! The outcome of a run: an enum of the flow's ends, each with the outputs that are there.

use flow_spec::Action;
use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote, quote_spanned};

use crate::editor::out_of_sight_but;
use crate::flow::syntax::{FlowSyntax, Parameter};
use crate::flow::types::TypeNames;
use crate::names::{here, plain};
use crate::runtime::Runtime;

use super::attributes::{derives, docs_or, said_of_the_flow};
use super::enums::{End, Field, Fields, ends};

/// The enum, and the method that converts the output into it. Empty for a flow with one end, whose
/// output says as much.
pub(crate) fn outcome(flow: &FlowSyntax, written: &[Action]) -> TokenStream {
    let ends = ends(flow);
    if ends.len() < 2 {
        return TokenStream::new();
    }
    let TypeNames {
        output,
        end,
        outcome,
        ..
    } = &TypeNames::of(flow);
    let at_ends = Fields::new(flow, written);
    let fields: Vec<Vec<Field<'_>>> = ends.iter().map(|end| at_ends.at(&end.label)).collect();
    let arms = ends.iter().zip(&fields);
    let values = arms.map(|(End { variant, .. }, fields)| {
        let values = fields.iter().map(|field| field.value(&flow.runtime));
        quote!(#end::#variant => #outcome::#variant { #(#values),* })
    });
    let definition = definition(flow, outcome, &ends, &fields);
    let debug = debug(outcome, &ends, &fields, &flow.runtime);
    let rt = flow.runtime.hidden();
    let items = quote! {
        #definition
        #debug
        #rt::outcome! { #output as #outcome: self { #(#values),* } }
    };
    let variants = ends.iter().map(|end| &end.variant);
    out_of_sight_but(items, variants.chain([outcome]))
}

fn definition(
    flow: &FlowSyntax,
    outcome: &Ident,
    ends: &[End],
    fields: &[Vec<Field<'_>>],
) -> TokenStream {
    let variants = ends.iter().zip(fields).map(|(end, fields)| {
        let (variant, documentation) = (&end.variant, format!("`end(\"{}\")`", end.label));
        let fields = match &fields[..] {
            [] => TokenStream::new(),
            fields => {
                let fields = fields.iter().map(Field::definition);
                quote!({ #(#fields),* })
            }
        };
        quote!(#[doc = #documentation] #variant #fields)
    });
    let documentation = format!(
        "The ends of `{}`, each with the outputs that are there.",
        flow.name
    );
    let (vis, derives, allow) = (&flow.vis, derives(flow, &["Debug"]), said_of_the_flow(flow));
    let enumeration = quote_spanned! {here(flow.name.span())=>
        #vis enum #outcome { #(#variants),* }
    };
    quote! {
        #[doc = #documentation]
        #derives
        #[allow(clippy::enum_variant_names, reason = "named as the flow says")]
        #allow
        #enumeration
    }
}

/// A `Debug` that requires nothing of the fields' types.
fn debug(
    outcome: &Ident,
    ends: &[End],
    fields: &[Vec<Field<'_>>],
    runtime: &Runtime,
) -> TokenStream {
    let rt = runtime.hidden();
    let arms = ends
        .iter()
        .zip(fields)
        .map(|(End { variant, .. }, fields)| {
            let names: Vec<&Ident> = fields.iter().map(|field| &field.output.name).collect();
            let texts = names.iter().map(|name| plain(name));
            let bound = (0..names.len()).map(|index| format_ident!("__output_{index}"));
            let bound: Vec<Ident> = bound.collect();
            let text = plain(variant);
            quote!(#variant #text { #(#names #bound #texts,)* })
        });
    quote!(#rt::debug! { #outcome { #(#arms)* } })
}

impl Field<'_> {
    fn definition(&self) -> TokenStream {
        let Parameter {
            name,
            ty,
            attributes,
            ..
        } = self.output;
        let documentation = docs_or(attributes, &format!("The output `{name}`."));
        if self.is_certain {
            quote!(#documentation #name: #ty)
        } else {
            quote!(#documentation #name: ::core::option::Option<#ty>)
        }
    }

    /// The value from `self`, the output.
    fn value(&self, runtime: &Runtime) -> TokenStream {
        let rt = runtime.hidden();
        let name = &self.output.name;
        let text = plain(name);
        if self.is_certain && self.output.optional {
            quote!(#name: #rt::at_end(self.#name, #text, self.end.as_str()))
        } else {
            quote!(#name: self.#name)
        }
    }
}
