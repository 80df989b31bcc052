//! `registry![…]`: nodes that flows from documents may use.
//!
//! Like `flow!`, it asks each node's macro for its contract. With that, it generates an adapter: how
//! the node is called with values whose types are known only at run time. rustc infers the types
//! from the call of the node itself, in code that never runs.

mod adapter;

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens as _, quote, quote_spanned};
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Expr, Path, Token, braced, bracketed};

use crate::contract::{Contract, Kind};
use crate::names::{here, is_type_name};
use crate::protocol::macro_path;
use crate::text::type_text;

/// `review`, or `Ask = Ask { model }`.
struct Entry {
    path: Path,
    value: Option<Expr>,
}

impl Parse for Entry {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let path: Path = input.parse()?;
        let value = match input.parse::<Option<Token![=]>>()? {
            Some(_) => Some(input.parse()?),
            None => None,
        };
        Ok(Entry { path, value })
    }
}

/// The expansion of `registry!`.
pub(crate) fn expand(input: TokenStream) -> TokenStream {
    let entries =
        syn::parse::Parser::parse2(Punctuated::<Entry, Token![,]>::parse_terminated, input);
    let entries = match entries {
        Ok(entries) => entries,
        Err(error) => return error.into_compile_error(),
    };
    let asked = entries.iter().map(|Entry { path, value }| {
        let contract = macro_path(path);
        let value = value.iter();
        quote! {
            #contract! { @contract [::flow_loader::__private::registered] { registry #path #(= #value)* } [] }
        }
    });
    quote!({
        let mut registry = ::flow_loader::Registry::new();
        #(#asked)*
        registry
    })
}

/// What a node's macro is asked with, and its contract.
struct Told {
    registry: Ident,
    path: Path,
    value: Option<Expr>,
    contract: Contract,
}

impl Parse for Told {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let (body, contracts, rest);
        input.parse::<Token![@]>()?;
        input.parse::<Ident>()?;
        bracketed!(rest in input);
        rest.parse::<TokenStream>()?;
        braced!(body in input);
        let registry = body.parse()?;
        let Entry { path, value } = body.parse()?;
        bracketed!(contracts in input);
        Ok(Told {
            registry,
            path,
            value,
            contract: contracts.parse()?,
        })
    }
}

/// The second half of the expansion, which a node's macro calls: adds the node to the registry.
pub(crate) fn registered(input: TokenStream) -> TokenStream {
    let told: Told = match syn::parse2(input) {
        Ok(told) => told,
        Err(error) => return error.into_compile_error(),
    };
    let Told {
        registry,
        path,
        value,
        contract,
    } = told;
    if contract.broken {
        return TokenStream::new();
    }
    let span = path
        .segments
        .last()
        .map_or_else(Span::call_site, |last| last.ident.span());
    if contract.kind == Kind::Flow {
        let text = "a flow is not a node of a registry: its document contains it, and its nodes are registered\n\
                    help: name its nodes here, and remove this";
        return syn::Error::new(span, text).into_compile_error();
    }
    let is_type = contract.kind == Kind::Type
        && path
            .segments
            .last()
            .is_some_and(|last| is_type_name(&last.ident));
    if let (Some(value), false) = (&value, is_type) {
        let text = "only a type with settings has a value: remove `= …`";
        return syn::Error::new_spanned(value.to_token_stream(), text).into_compile_error();
    }
    let name = path
        .segments
        .last()
        .map(|last| type_text(&syn::parse_quote!(#last)));
    let adapter = adapter::adapter(
        &path,
        name.as_deref().unwrap_or_default(),
        value.as_ref(),
        &contract,
    );
    quote_spanned!(here(span)=> #registry.__add(#adapter);)
}
