//! A flow as a node of another one: its outputs as writes, and its contract.

use flow_spec::Action;
use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::LitStr;
use syn::spanned::Spanned as _;

use crate::contract::{
    About, ActionPort, Attempts, Contract, Failure, Kind, Mode, ReadPort, WritePort, documentation,
};
use crate::flow::syntax::{FlowSyntax, Parameter};
use crate::names::{here, plain};
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

/// Returns true if only the contracts of the flow's nodes tell what it writes at its ends.
fn depends_on_nodes(flow: &FlowSyntax) -> bool {
    outputs(flow).any(|output| output.optional)
}

/// The flow as a node of another one, in the first half of the expansion. Nothing if the second half
/// defines it.
pub(super) fn contract(flow: &FlowSyntax, broken: bool) -> TokenStream {
    match depends_on_nodes(flow) && !broken {
        true => TokenStream::new(),
        false => contract_with(flow, None, broken),
    }
}

/// The flow as a node of another one, in the second half of the expansion. Nothing if the first half
/// has defined it. For a flow with mistakes there are no `ends`, and it counts as writing all
/// outputs at each of them, so that its users have no further error.
pub(crate) fn contract_at_ends(flow: &FlowSyntax, ends: Option<&[Action]>) -> TokenStream {
    match depends_on_nodes(flow) {
        true => contract_with(flow, ends, false),
        false => TokenStream::new(),
    }
}

/// Outputs that are not optional are written at each end, the others where an end is said to write
/// them.
fn contract_with(flow: &FlowSyntax, written: Option<&[Action]>, broken: bool) -> TokenStream {
    let reads = unique(&flow.inputs).map(|parameter| ReadPort {
        name: parameter.name.clone(),
        mode: if parameter.optional {
            Mode::MaybeTake
        } else {
            Mode::Take
        },
        rust_type: type_text(&parameter.ty),
    });
    let port = |index: usize, parameter: &Parameter, optional: bool| WritePort {
        name: parameter.name.clone(),
        index,
        optional,
        rust_type: type_text(&parameter.ty),
    };
    let (optional, required): (Vec<_>, Vec<_>) = outputs(flow)
        .enumerate()
        .partition(|(_, output)| output.optional);
    let writes = required
        .into_iter()
        .map(|(index, output)| port(index, output, false));
    let actions = ends(flow).into_iter().map(|End { label, variant }| {
        let end = written.and_then(|ends| ends.iter().find(|end| end.name == label));
        let at_end = |&(index, output): &(usize, &Parameter)| match end {
            None => Some(port(index, output, false)),
            Some(end) => {
                let mut writes = end.writes.iter();
                let write = writes.find(|write| write.key == plain(&output.name))?;
                Some(port(index, output, write.optional))
            }
        };
        ActionPort {
            name: LitStr::new(&label, variant.span()),
            writes: optional.iter().filter_map(at_end).collect(),
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
    contract_macro(&flow.name, &flow.vis, &contract)
}
