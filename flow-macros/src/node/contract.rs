//! The contract of a node, and the items of a node that has mistakes.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens as _, quote};
use syn::parse::{Parse, ParseStream};
use syn::{Path, Token, Visibility};

use super::attribute::NodeAttribute;
use crate::contract::{ActionPort, Contract, list};
use crate::editor::out_of_sight;
use crate::protocol::{Named, contract_macro, macro_path};
use crate::runtime::Runtime;
use crate::twice::Extent;

/// The items next to a node that has mistakes, so that a flow has no second error. Its `contract`
/// has everything that is known.
pub(super) fn stub(
    name: &Ident,
    vis: &Visibility,
    item: Option<Extent>,
    generics: &syn::Generics,
    self_ty: &TokenStream,
    contract: Contract,
    runtime: &Runtime,
) -> TokenStream {
    let rt = runtime.hidden();
    let (generics, _, bounds) = generics.split_for_impl();
    let items = out_of_sight(quote! {
        #[allow(non_local_definitions, reason = "a node may be defined in a function")]
        const _: () = {
            impl #generics #rt::Node for #self_ty #bounds { type Held = Self; type Inside = #rt::NothingInside; }
        };
    });
    let node = Named {
        name,
        vis,
        item,
        items,
        runtime,
    };
    let contract = Contract {
        broken: true,
        ..contract
    };
    contract_macro(&node, &contract)
}

/// The macro that passes on a node's contract. If the actions belong to an enum, the enum's own
/// macro supplies them, and then [`with_actions`] defines the macro.
pub(super) fn contract(
    node: &Named<'_>,
    attribute: &NodeAttribute,
    contract: &Contract,
) -> TokenStream {
    let contract = &Contract {
        broken: contract.broken || attribute.broken,
        ..contract.clone()
    };
    let mention = attribute.settings.mention();
    let mention = mention.map(|mention| quote!(const _: () = { #mention };));
    let contract = match &attribute.actions {
        None => contract_macro(node, contract),
        Some(actions) => {
            let path = out_of_sight(macro_path(actions).to_token_stream());
            let Named {
                name,
                vis,
                item,
                items,
                runtime,
            } = node;
            let name = out_of_sight(name.to_token_stream());
            let (runtime, rt) = (runtime.root(), runtime.hidden());
            // For an enum without the derive, rustc reports only a missing macro of its name. This
            // adds how to fix it.
            quote! {
                #path! { @actions [#rt::node_contract] { #runtime, #vis #name { #item } { #items } #contract } }
                const _: &[&::core::primitive::str] = <#actions as #runtime::Action>::ACTIONS;
            }
        }
    };
    quote!(#contract #mention)
}

/// A contract that still lacks the actions of its enum.
struct ContractWithActions {
    /// The path of the runtime.
    runtime: Path,
    vis: Visibility,
    name: Ident,
    item: Option<Extent>,
    items: TokenStream,
    contract: Contract,
}

impl Parse for ContractWithActions {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let content;
        syn::braced!(content in input);
        let runtime = content.call(Path::parse_mod_style)?;
        content.parse::<Token![,]>()?;
        let (vis, name) = (content.parse()?, content.parse()?);
        let item;
        syn::braced!(item in content);
        let item = (!item.is_empty()).then(|| item.parse()).transpose()?;
        let items;
        syn::braced!(items in content);
        let items = items.parse()?;
        let contract: Contract = content.parse()?;
        let actions: Vec<ActionPort> = list(input)?;
        let broken = input.parse::<Option<Ident>>()?.is_some();
        Ok(ContractWithActions {
            runtime,
            vis,
            name,
            item,
            items,
            contract: Contract {
                actions,
                broken: broken || contract.broken,
                ..contract
            },
        })
    }
}

/// The expansion of `node_contract!`, which the macro of an enum of actions calls.
pub(crate) fn with_actions(input: TokenStream) -> TokenStream {
    match syn::parse2::<ContractWithActions>(input) {
        Ok(ContractWithActions {
            runtime,
            vis,
            name,
            item,
            items,
            contract,
        }) => {
            let node = Named {
                name: &name,
                vis: &vis,
                item,
                items,
                runtime: &Runtime::at(runtime),
            };
            contract_macro(&node, &contract)
        }
        Err(error) => error.into_compile_error(),
    }
}
