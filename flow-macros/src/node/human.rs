//! `#[node(human = "…")]` on a type: its value comes from outside. Read, checked, and not supported yet.

use flow_spec::Code;
use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{Data, DeriveInput};

use crate::contract::{Contract, Kind};
use crate::protocol::contract_macro;
use crate::report::Report;

use super::attribute::NodeAttribute;

/// What comes beside the type: its contract, so that a flow which uses it has no further error.
pub(super) fn expand(
    attribute: &NodeAttribute,
    item: TokenStream,
    report: &mut Report,
) -> syn::Result<TokenStream> {
    let item: DeriveInput = syn::parse2(item)?;
    let name = &item.ident;
    match &attribute.human {
        None => {
            let message = format!("`{name}` does not say what is asked of whom");
            let help = "a type is a node if its value comes from a person: `#[node(human = \"Deploy?\")]`; \
                        for a step with settings, put `#[node]` on its `impl` block";
            report.error(Code::Malformed, name.span(), message, help);
        }
        Some(prompt) => {
            let help = "it is part of the language, and will come with a later release";
            report.error(
                Code::Unsupported,
                prompt.span(),
                "a human node is not supported yet",
                help,
            );
        }
    }
    let actions = match &item.data {
        Data::Enum(data) => crate::action::actions(data.variants.iter(), report),
        _ => Vec::new(),
    };
    let contract = Contract {
        kind: Kind::Type,
        actions,
        ..Contract::empty()
    };
    let contract = contract_macro(name, &item.vis, &contract.to_token_stream());
    Ok(quote!(#contract))
}
