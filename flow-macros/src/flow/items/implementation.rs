//! `impl Flow`: the methods that run a flow, and its routing table. The loop itself is elsewhere,
//! because it needs the contracts.

use std::collections::HashMap;

use flow_spec::DEFAULT_ACTION;
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens as _, format_ident, quote, quote_spanned};
use syn::LitStr;
use syn::spanned::Spanned as _;

use crate::flow::defaults;
use crate::flow::instances::Instances;
use crate::flow::syntax::{EdgeSyntax, FlowSyntax, Parameter, StepSyntax};
use crate::names::here;
use crate::runtime::Runtime;
use crate::text::is_plain;

use super::enums::{ends, node_variant};
use super::signature::unique;
use super::{TypeNames, as_node, nesting};

/// The number of arguments that clippy allows.
const MANY_ARGUMENTS: usize = 7;

/// `impl Flow`, and the items that a flow needs to be a node.
pub(super) fn implementation(
    flow: &FlowSyntax,
    instances: &Instances,
    names: &TypeNames,
) -> TokenStream {
    let (import, runtime) = flow.runtime.imported(Span::call_site());
    let items = items(flow, instances, names, &runtime);
    quote!(const _: () = { #import #items };)
}

fn items(
    flow: &FlowSyntax,
    instances: &Instances,
    names: &TypeNames,
    runtime: &Runtime,
) -> TokenStream {
    let rt = runtime.hidden();
    let name = &flow.name;
    let TypeNames {
        output, node, end, ..
    } = names;
    let text = name.to_string();
    let namespace = flow.namespace();
    let routes = routes(flow, instances, names, runtime);
    let as_node = nesting::node(flow, instances, runtime);
    let seen_around = as_node::seen_around(flow, names, runtime);
    let input_function = input_function(flow, names);
    let checked_input = checked_input(flow, instances, names, runtime);
    quote! {
            #rt::itself! {
                { impl #rt::Flow for #name } #name #text #namespace {#checked_input} #output #node #end
                [#(#routes),*]
            }
            #as_node
            #seen_around
            #input_function
    }
}

/// The type of the input, if its values can be sent and the flow does not contain itself. Otherwise
/// the error is elsewhere, and rustc reports no consequences of it for the functions with that
/// input.
fn checked_input(
    flow: &FlowSyntax,
    instances: &Instances,
    TypeNames { input, .. }: &TypeNames,
    runtime: &Runtime,
) -> TokenStream {
    let rt = runtime.hidden();
    let types = unique(&flow.inputs).map(|Parameter { ty, .. }| ty);
    let types = types.filter(|ty| !is_plain(&ty.to_token_stream()));
    let checks = types.map(|ty| {
        let site = here(ty.span());
        let rt = runtime.hidden_at(site);
        quote_spanned!(site=> <#ty as #rt::GoesBetweenThreads>::CHECK)
    });
    let nodes = nesting::checked(flow, instances);
    match checks
        .chain(nodes)
        .reduce(|one, other| quote!(#one + #other))
    {
        Some(check) => quote!(<#input as #rt::Checked<{ #check }>>::Type),
        None => quote!(#input),
    }
}

/// The input from its parts, for outer flows.
fn input_function(flow: &FlowSyntax, names: &TypeNames) -> TokenStream {
    let (name, input) = (&flow.name, &names.input);
    let inputs = || unique(&flow.inputs).enumerate();
    let many = (inputs().count() > MANY_ARGUMENTS).then(|| {
        quote!(#[allow(clippy::too_many_arguments, reason = "for flows around this one, with an argument for each input")])
    });
    let argument = |index: usize| format_ident!("__input_{index}");
    let parameters = inputs().map(|(index, parameter)| {
        let (name, ty) = (argument(index), parameter.argument_type());
        quote!(#name: #ty)
    });
    let fields = inputs().map(|(index, parameter)| {
        let (name, argument) = (&parameter.name, argument(index));
        match defaults::call(parameter, names) {
            Some(default) => quote!(#name: #argument.unwrap_or_else(|| #default)),
            None => quote!(#name: #argument),
        }
    });
    quote! {
        impl #name {
            #[doc(hidden)]
            #many
            pub fn __input(#(#parameters),*) -> #input {
                #input { #(#fields),* }
            }
        }
    }
}

/// The lines of the routing table.
fn routes(
    flow: &FlowSyntax,
    instances: &Instances,
    names: &TypeNames,
    runtime: &Runtime,
) -> Vec<TokenStream> {
    let rt = runtime.hidden();
    let TypeNames { node, end, .. } = names;
    let ends = ends(flow);
    let variants = ends.iter().map(|end| (&*end.label, &end.variant));
    let variants: HashMap<&str, &Ident> = variants.collect();
    let node_of = |step: &StepSyntax| {
        let variant = node_variant(&instances[instances.of(step)?]);
        Some(quote!(#node::#variant))
    };
    let route = |edge: &EdgeSyntax| {
        let from = match &edge.from {
            StepSyntax::Start(_) => quote!(#rt::None),
            step => {
                let from = node_of(step)?;
                quote!(#rt::Some(#from))
            }
        };
        let action = action_of(edge);
        let to = match &edge.to {
            StepSyntax::End(_, label) => {
                let label = label_of(label.as_ref());
                let variant = variants.get(&*label)?;
                quote!(#rt::Target::End(#end::#variant))
            }
            step => {
                let to = node_of(step)?;
                if let StepSyntax::Start(_) = &edge.from {
                    quote!(#rt::Target::Node(#to))
                } else {
                    // Shorter, as there are many.
                    let from = node_of(&edge.from)?;
                    return Some(quote!(#rt::edge(#from, #action, #to)));
                }
            }
        };
        Some(quote!(#rt::Route { from: #from, action: #action, to: #to }))
    };
    flow.edges.iter().filter_map(route).collect()
}

/// The action that an edge routes.
pub(crate) fn action_of(edge: &EdgeSyntax) -> String {
    label_of(edge.action.as_ref())
}

/// An action or a label, or `"default"` if none is written.
pub(crate) fn label_of(written: Option<&LitStr>) -> String {
    written.map_or_else(|| DEFAULT_ACTION.to_owned(), LitStr::value)
}
