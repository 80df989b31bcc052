//! The parameter `&Context`: it is the run's context by its name, whatever else is imported under that
//! name, such as anyhow's trait or the type of `std::task`.

use std::cell::OnceCell;

use proc_macro2::{Delimiter, Group, Ident, TokenStream, TokenTree};
use quote::{quote, quote_spanned};

use crate::editor;
use crate::names::here;
use crate::runtime::runtime_crate_at;

use super::documented::{changed, replaced};

/// An item whose parameters have the path of the run's context.
pub(super) struct WithPath {
    pub(super) item: TokenStream,
    /// A use of the name as it was written: without it, an import of the type would be unused.
    pub(super) used: TokenStream,
}

/// A function.
pub(super) fn of_function(item: TokenStream) -> WithPath {
    let named = OnceCell::new();
    let parameters = |group: &Group| with_path(group, &named);
    let item = replaced(item, Delimiter::Parenthesis, parameters);
    WithPath::new(item, named)
}

/// An `impl` block with methods.
pub(super) fn of_block(item: TokenStream) -> WithPath {
    let named = OnceCell::new();
    let parameters = |group: &Group| with_path(group, &named);
    let methods = |group: &Group| changed(&group.stream(), Delimiter::Parenthesis, parameters);
    let item = replaced(item, Delimiter::Brace, methods);
    WithPath::new(item, named)
}

impl WithPath {
    fn new(item: TokenStream, named: OnceCell<Ident>) -> Self {
        let used = named.get().filter(|_| !editor::expands()).map(|name| {
            quote! {
                const _: () = {
                    #[allow(unused_imports, reason = "only the import of the name itself is to be used")]
                    use #name as _;
                };
            }
        });
        WithPath {
            item,
            used: used.unwrap_or_default(),
        }
    }
}

/// The parameters with the path in place of each `Context` that is a whole type behind a `&`. `None`
/// if there is none. The first of these names goes into `named`.
fn with_path(parameters: &Group, named: &OnceCell<Ident>) -> Option<TokenStream> {
    let tokens: Vec<TokenTree> = parameters.stream().into_iter().collect();
    let is_mark = |at: Option<usize>, mark: char| {
        let token = at.and_then(|at| tokens.get(at));
        matches!(token, Some(TokenTree::Punct(it)) if it.as_char() == mark)
    };
    let is_context = |at: usize| {
        let is_named = matches!(&tokens[at], TokenTree::Ident(word) if word == "Context");
        let is_lifetime = is_mark(at.checked_sub(2), '\'');
        let reference = at.checked_sub(if is_lifetime { 3 } else { 1 });
        let is_whole = at + 1 == tokens.len() || is_mark(Some(at + 1), ',');
        is_named && is_whole && is_mark(reference, '&')
    };
    let mut is_changed = false;
    let replaced = tokens.iter().enumerate().map(|(at, token)| match token {
        TokenTree::Ident(name) if is_context(at) => {
            is_changed = true;
            named.get_or_init(|| name.clone());
            let site = here(name.span());
            let runtime = runtime_crate_at(site);
            quote_spanned!(site=> #runtime::#name)
        }
        other => other.clone().into(),
    });
    let replaced = replaced.collect();
    is_changed.then_some(replaced)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_whole_type_behind_a_reference_is_the_context() {
        let function = of_function(quote! {
            fn read(a: &Context, b: &'a Context, c: Context, d: &own::Context, e: &Context<u8>, f: (&Context,)) {}
        });
        let expected = quote! {
            fn read(
                a: &::flow_runtime::Context, b: &'a ::flow_runtime::Context, c: Context, d: &own::Context,
                e: &Context<u8>, f: (&Context,)
            ) {}
        };
        assert_eq!(function.item.to_string(), expected.to_string());
        assert!(function.used.to_string().contains("use Context as _"));
        let block = of_block(quote!(impl Ask { fn exec(&self, cx: &Context) {} }));
        let expected = quote!(impl Ask { fn exec(&self, cx: &::flow_runtime::Context) {} });
        assert_eq!(block.item.to_string(), expected.to_string());
        let other = of_function(quote!(
            fn read(url: &str) {}
        ));
        assert!(other.used.is_empty());
    }
}
