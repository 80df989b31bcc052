//! A flow as a node of another one: its outputs as writes, and its contract.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::LitStr;
use syn::spanned::Spanned as _;

use crate::contract::{
    About, ActionPort, Attempts, Contract, Failure, Kind, Mode, ReadPort, WritePort, documentation,
};
use crate::flow::syntax::{FlowSyntax, Parameter};
use crate::names::here;
use crate::protocol::contract_macro;
use crate::runtime::runtime;
use crate::text::type_text;

use super::enums::{End, ends};
use super::signature::{outputs, unique};
use crate::flow::types::TypeNames;

/// The items with which an outer flow uses a run of this one: to collect it, or to read what it
/// wrote.
pub(super) fn seen_around(flow: &FlowSyntax, names: &TypeNames) -> TokenStream {
    let rt = runtime();
    let name = &flow.name;
    let writes = outputs(flow)
        .enumerate()
        .map(|(index, Parameter { ty, .. })| {
            let site = here(ty.span());
            let writes = quote_spanned!(site=> type Type = #ty;);
            quote!(impl #rt::Writes<#index> for #name { #writes })
        });
    let collected = collected(flow, names);
    quote!(#collected #(#writes)*)
}

/// The result that a loop over items keeps of each run of this flow: its only output, or all
/// outputs.
fn collected(flow: &FlowSyntax, names: &TypeNames) -> TokenStream {
    let rt = runtime();
    let (name, output) = (&flow.name, &names.output);
    let outputs: Vec<&Parameter> = outputs(flow).collect();
    let (item, value) = match (&outputs[..], ends(flow).len()) {
        ([], 1) => (quote!(()), quote!()),
        ([output], 1) => {
            let (name, ty) = (&output.name, output.field_type());
            (ty, quote!(output.#name))
        }
        _ => (quote!(#output), quote!(output)),
    };
    quote! {
        impl #rt::Collected for #name {
            type Output = #output;
            type Item = #item;
            fn collected(output: #output) -> Self::Item { #value }
        }
    }
}

/// The flow as a node of another one.
pub(super) fn contract(flow: &FlowSyntax, broken: bool) -> TokenStream {
    let reads = unique(&flow.inputs).map(|parameter| ReadPort {
        name: parameter.name.clone(),
        mode: if parameter.optional {
            Mode::MaybeTake
        } else {
            Mode::Take
        },
        rust_type: type_text(&parameter.ty),
    });
    let writes = outputs(flow)
        .enumerate()
        .map(|(index, parameter)| WritePort {
            name: parameter.name.clone(),
            index,
            optional: parameter.optional,
            rust_type: type_text(&parameter.ty),
        });
    let actions = ends(flow)
        .into_iter()
        .map(|End { label, variant }| ActionPort {
            name: LitStr::new(&label, variant.span()),
            variant,
            writes: Vec::new(),
        });
    let contract = Contract {
        kind: Kind::Flow,
        attempts: Attempts::Many,
        failure: Failure::Possible,
        reads: reads.collect(),
        writes: writes.collect(),
        actions: actions.collect(),
        broken,
        about: About {
            description: documentation(&flow.attributes),
            ..About::default()
        },
        ..Contract::empty()
    };
    contract_macro(&flow.name, &flow.vis, &contract)
}
