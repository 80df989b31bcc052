//! The parameter `&Context`: the name always means the run's context, even if it is imported from
//! elsewhere, such as anyhow's trait or the type of `std::task`.

use std::cell::OnceCell;

use proc_macro2::{Delimiter, Group, Ident, TokenStream, TokenTree};
use quote::quote_spanned;

use crate::editor;
use crate::names::here;
use crate::runtime::Runtime;

use super::documented::replaced;

/// An item whose parameters have the path of the run's context.
pub(super) struct WithPath {
    pub(super) item: TokenStream,
    /// A use of the name as written: without it, an import of the type would be unused. It works
    /// without an import.
    pub(super) used: TokenStream,
}

/// The methods whose parameters belong to a node.
const PHASES: [&str; 4] = ["prep", "exec", "exec_fallback", "post"];

/// A function.
pub(super) fn of_function(item: TokenStream, runtime: &Runtime) -> WithPath {
    let named = OnceCell::new();
    let item = in_functions(item, &|_| true, &named, runtime);
    WithPath::new(item, named, runtime)
}

/// An `impl` block. Methods that are not the node's stay as they are.
pub(super) fn of_block(item: TokenStream, runtime: &Runtime) -> WithPath {
    let named = OnceCell::new();
    let is_phase = |name: &Ident| PHASES.iter().any(|phase| name == phase);
    let methods = |group: &Group| Some(in_functions(group.stream(), &is_phase, &named, runtime));
    let item = replaced(item, Delimiter::Brace, methods);
    WithPath::new(item, named, runtime)
}

/// The tokens with the path in the parameters of the relevant functions.
fn in_functions(
    tokens: TokenStream,
    is_meant: &dyn Fn(&Ident) -> bool,
    named: &OnceCell<Ident>,
    runtime: &Runtime,
) -> TokenStream {
    // True if `fn` was the last word, and if parameters of such a function come next.
    let (mut after_fn, mut is_next) = (false, false);
    let tokens = tokens.into_iter().map(|token| {
        match &token {
            TokenTree::Ident(word) if after_fn => is_next = is_meant(word),
            TokenTree::Group(group) if is_next && group.delimiter() == Delimiter::Parenthesis => {
                is_next = false;
                if let Some(stream) = with_path(group, named, runtime) {
                    let mut changed = Group::new(Delimiter::Parenthesis, stream);
                    changed.set_span(group.span());
                    return TokenTree::Group(changed);
                }
            }
            _ => {}
        }
        after_fn = matches!(&token, TokenTree::Ident(word) if word == "fn");
        token
    });
    tokens.collect()
}

impl WithPath {
    fn new(item: TokenStream, named: OnceCell<Ident>, runtime: &Runtime) -> Self {
        let used = named.get().filter(|_| !editor::expands()).map(|name| {
            let site = here(name.span());
            let rt = runtime.hidden_at(site);
            // The second import is for a program without one of its own, which goes before it.
            quote_spanned! {site=>
                const _: () = {
                    use #name as _;
                };
                #[cfg_attr(clippy, allow(clippy::wildcard_imports, reason = "for programs without an import"))]
                use #rt::context::*;
            }
        });
        WithPath {
            item,
            used: used.unwrap_or_default(),
        }
    }
}

/// The parameters with the path in place of each `Context` that is a whole type behind a `&`.
/// `None` if there is none. The first of these names goes into `named`.
fn with_path(
    parameters: &Group,
    named: &OnceCell<Ident>,
    runtime: &Runtime,
) -> Option<TokenStream> {
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
            let runtime = runtime.root_at(site);
            quote_spanned!(site=> #runtime::#name)
        }
        other => other.clone().into(),
    });
    let replaced = replaced.collect();
    is_changed.then_some(replaced)
}

#[cfg(test)]
mod tests {
    use quote::quote;

    use super::*;

    #[test]
    fn only_a_whole_type_behind_a_reference_is_the_context() {
        let runtime = Runtime::default();
        let function = of_function(
            quote! {
                fn read(a: &Context, b: &'a Context, c: Context, d: &own::Context, e: &Context<u8>, f: (&Context,)) {}
            },
            &runtime,
        );
        let expected = quote! {
            fn read(
                a: &::flow_runtime::Context, b: &'a ::flow_runtime::Context, c: Context, d: &own::Context,
                e: &Context<u8>, f: (&Context,)
            ) {}
        };
        assert_eq!(function.item.to_string(), expected.to_string());
        assert!(function.used.to_string().contains("use Context as _"));
        let block = of_block(
            quote! {
                impl Ask { const FILL: fn(&Context) = fill; fn exec(&self, cx: &Context) {} fn fill(cx: &Context) {} }
            },
            &runtime,
        );
        let expected = quote! {
            impl Ask {
                const FILL: fn(&Context) = fill;
                fn exec(&self, cx: &::flow_runtime::Context) {}
                fn fill(cx: &Context) {}
            }
        };
        assert_eq!(block.item.to_string(), expected.to_string());
        let other = of_function(
            quote!(
                fn read(url: &str) {}
            ),
            &runtime,
        );
        assert!(other.used.is_empty());
    }
}
