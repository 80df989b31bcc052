//! The attributes of the user that the types of a flow take over: documentation and derives.

use proc_macro2::TokenStream;
use quote::{ToTokens as _, quote};
use syn::punctuated::Punctuated;
use syn::{Attribute, Path, Token};

use crate::flow::syntax::FlowSyntax;
use crate::names::{is_type_name, plain};

fn docs(attributes: &[Attribute]) -> impl Iterator<Item = &Attribute> {
    attributes
        .iter()
        .filter(|attribute| attribute.path().is_ident("doc"))
}

/// The documentation that the user wrote, or else this text.
pub(super) fn docs_or(attributes: &[Attribute], otherwise: &str) -> TokenStream {
    if docs(attributes).next().is_none() {
        return quote!(#[doc = #otherwise]);
    }
    docs(attributes)
        .map(|attribute| attribute.to_token_stream())
        .collect()
}

/// The derives that the user asked for, without the existing ones.
pub(super) fn derives(flow: &FlowSyntax, present: &[&str]) -> TokenStream {
    let lists = flow
        .attributes
        .iter()
        .filter(|attribute| attribute.path().is_ident("derive"));
    let paths = lists.filter_map(|list| {
        list.parse_args_with(Punctuated::<Path, Token![,]>::parse_terminated)
            .ok()
    });
    let is_new = |path: &Path| {
        path.segments
            .last()
            .is_none_or(|last| !present.iter().any(|name| last.ident == name))
    };
    let paths: Vec<Path> = paths.flatten().filter(is_new).collect();
    if paths.is_empty() {
        TokenStream::new()
    } else {
        quote!(#[derive(#(#paths),*)])
    }
}

/// Attributes for the types next to a flow: rustc need not repeat its reports about the flow's name
/// for each of them.
pub(super) fn said_of_the_flow(flow: &FlowSyntax) -> Option<TokenStream> {
    let name = plain(&flow.name);
    let is_usual = is_type_name(&flow.name) && !name.contains('_');
    (!is_usual).then(|| quote!(#[allow(non_camel_case_types, reason = "said of the flow itself")]))
}
