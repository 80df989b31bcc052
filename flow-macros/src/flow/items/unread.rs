//! The builder of a flow with unreadable declarations: code that sets their values has no second
//! error.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

use crate::flow::instances::{Instance, Instances};
use crate::flow::syntax::FlowSyntax;
use crate::names::{here, is_name};

/// The setters of nodes with unreadable declarations, and the builder if there is no other. Their
/// types are unknown, so they take any value.
pub(crate) fn unread(flow: &FlowSyntax, instances: &Instances) -> TokenStream {
    let FlowSyntax { name, vis, .. } = flow;
    let has_values = instances.iter().any(|(_, instance)| instance.is_type());
    let is_set = |name: &Ident| {
        let mut named = instances.iter().map(|(_, instance)| instance);
        named.any(|instance: &Instance| instance.name == *name)
    };
    let mut names: Vec<Ident> = Vec::new();
    for unread in &flow.unread {
        // `self: review;` names nothing.
        if is_name(&unread.to_string()) && !is_set(unread) && !names.contains(unread) {
            names.push(unread.clone());
        }
    }
    let builder = format_ident!("{name}Builder", span = here(name.span()));
    let setters = quote! { #(pub fn #names<__T>(self, _: __T) -> Self { self })* };
    if has_values {
        return quote! {
            #[allow(missing_docs, reason = "the flow has mistakes")]
            impl<__Fields> #builder<__Fields> { #setters }
        };
    }
    quote! {
        #[doc(hidden)]
        #[allow(missing_docs, missing_debug_implementations, reason = "the flow has mistakes")]
        #vis struct #builder {}
        #[allow(missing_docs, reason = "the flow has mistakes")]
        impl #name {
            pub fn builder() -> #builder { #builder {} }
        }
        #[allow(missing_docs, reason = "the flow has mistakes")]
        impl #builder {
            #setters
            pub fn build(self) -> #name { #name {} }
        }
    }
}
