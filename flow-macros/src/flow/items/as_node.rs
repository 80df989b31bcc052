//! A flow as a node of another one: its outputs as writes, and its contract.

use flow_spec::Action;
use proc_macro2::TokenStream;
use quote::{ToTokens as _, quote, quote_spanned};
use syn::LitStr;
use syn::spanned::Spanned as _;

use crate::contract::{
    About, ActionPort, Attempts, Contract, Failure, Kind, Mode, ReadPort, WritePort,
};
use crate::documentation::documentation;
use crate::flow::syntax::{FlowSyntax, Parameter};
use crate::names::here;
use crate::protocol::{Named, contract_macro};
use crate::runtime::Runtime;
use crate::text::{is_compared, is_plain, type_text};

use super::enums::{End, Fields, ends};
use super::signature::{outputs, unique};
use crate::flow::types::TypeNames;

/// The items with which an outer flow uses a run of this one: to collect it, to read its writes, or
/// to compare the types of its inputs.
pub(super) fn seen_around(flow: &FlowSyntax, names: &TypeNames, runtime: &Runtime) -> TokenStream {
    let rt = runtime.hidden();
    let name = &flow.name;
    let writes = outputs(flow)
        .enumerate()
        .map(|(index, Parameter { ty, .. })| {
            let site = here(ty.span());
            let writes = quote_spanned!(site=> type Type = #ty;);
            quote!(impl #rt::Writes<#index> for #name { #writes })
        });
    let reads = unique(&flow.inputs).enumerate().filter(|(_, input)| {
        is_compared(&type_text(&input.ty)) && !is_plain(&input.ty.to_token_stream())
    });
    let reads = reads.map(|(index, Parameter { ty, .. })| {
        quote!(impl #rt::ReadsAt<#index> for #name { type Type = #ty; })
    });
    let collected = collected(flow, names, runtime);
    quote!(#collected #(#writes)* #(#reads)*)
}

/// The result that a loop over items keeps for each run of this flow: its only output, or all
/// outputs.
fn collected(flow: &FlowSyntax, names: &TypeNames, runtime: &Runtime) -> TokenStream {
    let rt = runtime.hidden();
    let (name, output) = (&flow.name, &names.output);
    let outputs: Vec<&Parameter> = outputs(flow).collect();
    let (item, value) = match (&outputs[..], ends(flow).len()) {
        ([], 1) => (quote!(()), quote!()),
        ([output], 1) => {
            let name = &output.name;
            // Not named again, so that a mistake in the type is reported once.
            let ty = quote!(<Self as #rt::Writes<0>>::Type);
            let item = if output.optional {
                quote!(::core::option::Option<#ty>)
            } else {
                ty
            };
            (item, quote!(__output.#name))
        }
        _ => (quote!(#output), quote!(__output)),
    };
    quote! {
        impl #rt::Collected for #name {
            type Output = #output;
            type Item = #item;
            fn collected(__output: #output) -> Self::Item { #value }
        }
    }
}

/// Returns true if the writes at the flow's ends depend on the contracts of its nodes.
fn depends_on_nodes(flow: &FlowSyntax) -> bool {
    outputs(flow).any(|output| output.optional)
}

/// The flow as a node of another one, in the first half of the expansion. Empty if the second half
/// defines it.
pub(super) fn contract(flow: &FlowSyntax, broken: bool) -> TokenStream {
    if depends_on_nodes(flow) && !broken {
        TokenStream::new()
    } else {
        contract_with(flow, &[], broken)
    }
}

/// The flow as a node of another one, in the second half of the expansion. Empty if the first half
/// has defined it.
pub(super) fn contract_at_ends(flow: &FlowSyntax, written: &[Action]) -> TokenStream {
    if depends_on_nodes(flow) {
        contract_with(flow, written, false)
    } else {
        TokenStream::new()
    }
}

/// Outputs that are not optional are written at each end, the others at the ends that write them.
fn contract_with(flow: &FlowSyntax, written: &[Action], broken: bool) -> TokenStream {
    let reads = unique(&flow.inputs).map(|parameter| ReadPort {
        name: parameter.name.clone(),
        mode: if parameter.may_be_left_out() {
            Mode::MaybeTake
        } else {
            Mode::Take
        },
        rust_type: type_text(&parameter.ty),
        description: documentation(&parameter.attributes),
    });
    let port = |index: usize, parameter: &Parameter, optional: bool| WritePort {
        name: parameter.name.clone(),
        index,
        optional,
        adds: false,
        rust_type: type_text(&parameter.ty),
    };
    let required = outputs(flow).enumerate();
    let required = required.filter(|(_, output)| !output.optional);
    let writes = required.map(|(index, output)| port(index, output, false));
    let at_ends = Fields::new(flow, written);
    let actions = ends(flow).into_iter().map(|End { label, variant }| {
        let fields = at_ends.at(&label).into_iter();
        let optional = fields.filter(|field| field.output.optional);
        let writes = optional.map(|field| port(field.index, field.output, !field.is_certain));
        ActionPort {
            writes: writes.collect(),
            name: LitStr::new(&label, variant.span()),
            variant,
        }
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
    let named = Named {
        name: &flow.name,
        vis: &flow.vis,
        item: None,
        items: TokenStream::new(),
        runtime: &flow.runtime,
    };
    contract_macro(&named, &contract)
}
