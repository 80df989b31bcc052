//! `#[node(human = "…")]` on a type: its value comes from outside. Read, checked, and not supported yet.

use flow_spec::Code;
use proc_macro2::TokenStream;
use quote::quote;
use syn::{Data, DeriveInput};

use crate::report::Report;

use super::attribute::NodeAttribute;

/// What comes beside the type: nothing yet.
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
        Some(prompt) if prompt.value().trim().is_empty() => {}
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
    if let Data::Enum(data) = &item.data {
        crate::action::actions(data.variants.iter(), report);
    }
    Ok(TokenStream::new())
}

/// What comes beside a type with mistakes, as every one is now.
pub(super) fn stub(item: TokenStream) -> syn::Result<TokenStream> {
    let DeriveInput {
        ident: name,
        vis,
        generics,
        ..
    } = syn::parse2(item)?;
    let (_, arguments, _) = generics.split_for_impl();
    Ok(super::stub(
        &name,
        &vis,
        &generics,
        &quote!(#name #arguments),
    ))
}
