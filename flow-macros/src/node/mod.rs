//! `#[node]`: what is written stays as it was written; beside it comes what `flow!` needs to know and to call.

mod attribute;
mod function;
mod human;
mod outcome;
mod parameter;
mod prompt;
pub(crate) use parameter::option_of;
mod step;
mod steps;

use flow_spec::Code;
use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::parse::{Parse, ParseStream};
use syn::{Token, Type, Visibility};

use crate::contract::{ActionPort, Contract, list};
use crate::protocol::{contract_macro, macro_path};
use crate::report::Report;

use attribute::NodeAttribute;

/// The expansion of `#[node(settings)] item`.
pub(crate) fn define(settings: TokenStream, item: TokenStream) -> TokenStream {
    let mut report = Report::default();
    let attribute = NodeAttribute::parse(settings, &mut report);
    let kind = item_kind(&item);
    if let (Some(prompt), Some("impl" | "fn" | "async")) = (&attribute.human, kind) {
        let help = "put `#[node(human = …)]` on the `enum` or the `struct` of the answer";
        let message = "a person is asked for the value of a type, and this is code to run";
        report.error(Code::Malformed, prompt.span(), message, help);
    }
    let expansion = match kind {
        Some("impl") => report_or(
            steps::expand(&attribute, item.clone(), &mut report),
            &mut report,
        ),
        Some("enum" | "struct") => report_or(
            human::expand(&attribute, item.clone(), &mut report),
            &mut report,
        ),
        _ => report_or(
            function::expand(&attribute, item.clone(), &mut report),
            &mut report,
        ),
    };
    let expansion = match (report.is_empty(), kind) {
        (true, _) => expansion,
        (false, Some("impl")) => steps::stub(item.clone()).unwrap_or_default(),
        (false, Some("enum" | "struct")) => human::stub(item.clone()).unwrap_or_default(),
        (false, _) => function::stub(item.clone()).unwrap_or_default(),
    };
    let item = match kind {
        Some("enum" | "struct") => human::item(&attribute, item),
        _ => item,
    };
    let errors = report.into_tokens();
    quote!(#item #errors #expansion)
}

/// What comes beside a node that has mistakes: as much as a flow needs to have no further error.
fn stub(
    name: &Ident,
    vis: &Visibility,
    generics: &syn::Generics,
    self_ty: &TokenStream,
) -> TokenStream {
    let rt = crate::protocol::runtime();
    let (generics, _, bounds) = generics.split_for_impl();
    let contract = contract_macro(name, vis, &Contract::broken());
    quote! {
        #[allow(non_local_definitions, reason = "a node may be defined in a function")]
        const _: () = {
            impl #generics #rt::Node for #self_ty #bounds {}
        };
        #contract
    }
}

/// A mistake after which there is nothing to expand is reported, and the item stands alone.
fn report_or(expansion: syn::Result<TokenStream>, report: &mut Report) -> TokenStream {
    report.ok(expansion).unwrap_or_default()
}

/// The keyword that says what an item is.
fn item_kind(item: &TokenStream) -> Option<&'static str> {
    item.clone().into_iter().find_map(|token| match token {
        TokenTree::Ident(word) => ["impl", "enum", "struct", "fn", "async"]
            .into_iter()
            .find(|kind| word == kind),
        _ => None,
    })
}

/// The macro that tells a node's contract. Where the actions are those of an enum, the enum's own macro supplies
/// them, and [`with_actions`] defines the macro then.
fn contract(
    name: &Ident,
    vis: &Visibility,
    attribute: &NodeAttribute,
    contract: &Contract,
) -> TokenStream {
    match &attribute.actions {
        None => contract_macro(name, vis, contract),
        Some(actions) => {
            let path = macro_path(actions);
            // Of an enum without the derive, rustc says only that there is no macro of its name: this says what to do.
            quote! {
                #path! { @actions { #vis #name #contract } }
                const _: &[&str] = <#actions as ::flow_runtime::Action>::ACTIONS;
            }
        }
    }
}

/// A contract that still lacks the actions of its enum.
struct ContractWithActions {
    vis: Visibility,
    name: Ident,
    contract: Contract,
}

impl Parse for ContractWithActions {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let content;
        syn::braced!(content in input);
        let (vis, name, contract) = (content.parse()?, content.parse()?, content.parse()?);
        let actions: Vec<ActionPort> = list(input)?;
        let broken = input.parse::<Option<Ident>>()?.is_some();
        Ok(ContractWithActions {
            vis,
            name,
            contract: Contract {
                actions,
                broken,
                ..contract
            },
        })
    }
}

/// The expansion of `node_contract!`, which the macro of an enum of actions calls.
pub(crate) fn with_actions(input: TokenStream) -> TokenStream {
    match syn::parse2::<ContractWithActions>(input) {
        Ok(ContractWithActions {
            vis,
            name,
            contract,
        }) => contract_macro(&name, &vis, &contract),
        Err(error) => error.into_compile_error(),
    }
}

/// A type as its author would write it.
pub(crate) fn type_text(ty: &Type) -> String {
    let mut text = ty.to_token_stream().to_string();
    for (spaced, tight) in [
        (" :: ", "::"),
        (":: ", "::"),
        (" ::", "::"),
        (" < ", "<"),
        (" <", "<"),
        ("< ", "<"),
        (" >", ">"),
        ("& ", "&"),
        (" ,", ","),
        ("( ", "("),
        (" )", ")"),
        ("[ ", "["),
        (" ]", "]"),
        (" ;", ";"),
        ("' ", "'"),
    ] {
        text = text.replace(spaced, tight);
    }
    text
}

/// Skips what is no method: everything up to a `;` or a block.
fn skip_item(input: ParseStream<'_>) -> syn::Result<()> {
    while !input.is_empty() {
        if input.peek(Token![;]) {
            input.parse::<Token![;]>()?;
            return Ok(());
        }
        let block = input.peek(syn::token::Brace);
        input.parse::<TokenTree>()?;
        if block {
            return Ok(());
        }
    }
    Ok(())
}
