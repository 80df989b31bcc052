//! `registry![…]`: the nodes and flows that documents may use.
//!
//! For each node, it generates an adapter, which calls the node with values whose types are known
//! only at run time. rustc infers the types from a call of the node itself, in code that never
//! runs. For a flow, it registers the document.

mod adapter;

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use semver::Version;
use syn::Path;

use crate::contract::Kind;
use crate::crates::{CratePath, LOADER};
use crate::entries::{List, Told, last_span, name};
use crate::names::{here, located};

/// The macro `registry!`.
pub(crate) const REGISTRY: List = List {
    package: LOADER,
    name: "registry",
    makes: "Registry",
    wrong_version,
    twice,
    key: str::to_owned,
    entry: registered,
};

fn wrong_version(text: &str) -> Option<String> {
    Version::parse(text).err()?;
    Some(format!(
        "`{text}` is not a version\nhelp: write three numbers, as in `@ \"1.2.0\"` or `@ \"2.0.0-beta.1\"`"
    ))
}

/// Without versions, the paths of two nodes with one name distinguish them.
fn twice(name: &str, version: Option<&str>, [other, path]: [&Path; 2]) -> Option<String> {
    match version {
        Some(version) => Some(format!(
            "version {version} of `{name}` is registered twice\nhelp: remove one of them, or give it another version"
        )),
        None if other == path => Some(format!(
            "`{name}` is registered twice\nhelp: remove one of them"
        )),
        None => None,
    }
}

fn registered(told: &Told, krate: &CratePath) -> syn::Result<TokenStream> {
    told.refuse_value()?;
    let (registry, entry, contract) = (&told.list, &told.entry, &told.contract);
    let path = &entry.path;
    let name = name(path);
    let version = match &entry.version {
        Some(version) => quote!(::core::option::Option::Some(#version)),
        None => quote!(::core::option::Option::None),
    };
    let site = here(last_span(path));
    let krate = krate.at(site);
    if contract.kind == Kind::Flow {
        let path = located(path);
        return Ok(
            quote_spanned!(site=> #krate::Registry::__flow::<#path>(&mut #registry, #name, #version);),
        );
    }
    let adapter = adapter::adapter(path, &name, entry.value.as_ref(), contract, &krate);
    Ok(quote_spanned!(site=> #krate::Registry::__node(&mut #registry, #adapter, #version);))
}
