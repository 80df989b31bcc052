//! The names of the types that a flow defines, apart from its own, and of the types of its nodes.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens as _, format_ident, quote, quote_spanned};
use syn::Path;

use super::instances::Instance;
use super::syntax::FlowSyntax;
use crate::names::{here, located, plain};

/// The names of the types that a flow defines, apart from its own.
pub(crate) struct TypeNames {
    pub(crate) input: Ident,
    pub(crate) output: Ident,
    pub(crate) node: Ident,
    pub(crate) end: Ident,
    pub(crate) outcome: Ident,
}

impl TypeNames {
    pub(crate) fn of(flow: &FlowSyntax) -> Self {
        let name = |suffix: &str| format_ident!("{}{suffix}", flow.name, span = flow.name.span());
        TypeNames {
            input: name("Input"),
            output: name("Output"),
            node: name("Node"),
            end: name("End"),
            outcome: name("Outcome"),
        }
    }
}

/// The type of a node in generated code. If it has a value, this is an alias, so that a mistake in
/// the type is reported once.
pub(crate) fn node_type(flow: &FlowSyntax, instance: &Instance) -> TokenStream {
    match instance.path() {
        Some(_) if instance.is_type() => alias(flow, instance, "").to_token_stream(),
        path => path.map(located).unwrap_or_default(),
    }
}

/// The aliases for the type of a node with a value: under the user's name, and under that of
/// [`node_type`].
pub(crate) fn aliases(flow: &FlowSyntax, instance: &Instance) -> Option<TokenStream> {
    let path = instance.path()?;
    let (named, checked) = (named_type(flow, instance), alias(flow, instance, ""));
    let site = type_site(path);
    let rt = flow.runtime.hidden_at(site);
    // A flow that contains itself cannot be checked for `Sync`.
    let value = if crate::editor::expands() {
        quote!(#named)
    } else {
        let inner_flows = inner_flows(flow, site);
        let apart = quote_spanned!(site=> <#named as #rt::Checked<{ #inner_flows }>>::Type);
        quote_spanned!(site=> <#apart as #rt::Checked<{ <<#apart as #rt::Node>::Held as #rt::SharedByRuns>::CHECK }>>::Type)
    };
    // rustc would propose type parameters for the names of the user's items.
    let hidden = |alias: &Ident| Ident::new(&alias.to_string(), here(alias.span()));
    let (named_item, checked_item) = (hidden(&named), hidden(&checked));
    Some(quote! {
        #[doc(hidden)] type #named_item = #path;
        #[doc(hidden)] type #checked_item = #value;
    })
}

/// The constant of a flow that can be evaluated if none of its nodes contains the flow. rustc shows
/// the name.
pub(crate) fn inner_flows(flow: &FlowSyntax, site: Span) -> TokenStream {
    let mut name = flow.name.clone();
    name.set_span(name.span().located_at(site));
    quote_spanned!(site=> #name::INNER_FLOWS)
}

/// The type of a node that has a value, as the user named it.
pub(crate) fn named_type(flow: &FlowSyntax, instance: &Instance) -> Ident {
    alias(flow, instance, "_as_named")
}

fn alias(flow: &FlowSyntax, instance: &Instance, suffix: &str) -> Ident {
    let site = instance.path().map_or(instance.span, type_site);
    let (flow, node) = (plain(&flow.name), plain(&instance.name));
    format_ident!("__{flow}_{node}{suffix}", span = site)
}

/// The place at which a type is reported: not [`here`], as the user has written it.
fn type_site(path: &Path) -> Span {
    let last = path.segments.last().map(|last| last.ident.span());
    last.unwrap_or_else(Span::call_site)
}
