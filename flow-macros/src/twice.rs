//! Two items with the same name: rustc reports the second one, but nothing that we generate for it.
//!
//! After that report, rustc takes the name for one of the two. The generated code of the other one
//! would then exist twice, with an error for each part of it:
//!
//! - An item that has the same name as the user's, next to it, gets the place of that item: rustc
//!   reports only one clash of a name at one place, and the first one is of the user's item.
//! - All other items are passed to a macro of that name, which is lost with the name.
//! - Code for which the user has no item with its name is in a separate module: [`once`].

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::Visibility;
use syn::parse::{Parse, ParseStream};

use crate::editor;
use crate::inline;
use crate::names::{dollar, here, plain, snake_case};

/// From the first to the last token of a user's item, without its attributes.
#[derive(Clone, Copy)]
pub(crate) struct Extent {
    first: Span,
    last: Span,
}

impl Extent {
    pub(crate) fn of(item: &TokenStream) -> Self {
        let mut tokens = item.clone().into_iter().peekable();
        while let Some(TokenTree::Punct(_)) = tokens.peek() {
            // `#` and `[…]`
            tokens.nth(1);
        }
        let first = tokens.next().map(|token| token.span());
        let last = tokens.last().map(|token| match token {
            TokenTree::Group(group) => group.span_close(),
            token => token.span(),
        });
        let first = first.unwrap_or_else(Span::call_site);
        Extent {
            first,
            last: last.unwrap_or(first),
        }
    }

    /// `name as other`, at the place of the item.
    pub(crate) fn renamed(self, name: &Ident, other: &Ident) -> TokenStream {
        let (mut name, mut other) = (name.clone(), other.clone());
        name.set_span(self.first);
        other.set_span(self.last);
        quote!(#name as #other)
    }

    /// An empty struct at the place of the item.
    pub(crate) fn unit_type(self, vis: &Visibility, name: &Ident) -> TokenStream {
        // Lints take it for the user's, because of its place.
        let (keyword, attributes) = match vis {
            Visibility::Inherited => (quote_spanned!(self.first=> struct), None),
            _ => {
                let attributes = quote! {
                    #[doc(hidden)]
                    #[derive(::core::fmt::Debug, ::core::clone::Clone, ::core::marker::Copy)]
                    #[non_exhaustive]
                };
                (quote!(struct), Some(attributes))
            }
        };
        let mut name = name.clone();
        name.set_span(here(name.span()));
        let mut nothing = Group::new(Delimiter::Brace, TokenStream::new());
        nothing.set_span(self.last);
        quote! {
            #attributes
            #vis #keyword #name #nothing
        }
    }
}

impl ToTokens for Extent {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        Ident::new("first", self.first).to_tokens(tokens);
        Ident::new("last", self.last).to_tokens(tokens);
    }
}

impl Parse for Extent {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let (first, last): (Ident, Ident) = (input.parse()?, input.parse()?);
        Ok(Extent {
            first: first.span(),
            last: last.span(),
        })
    }
}

/// These items, unless others exist that are `what` by the same name: then rustc reports the second
/// of two modules, and its items are left out.
pub(crate) fn once(name: &Ident, what: &str, items: &TokenStream) -> TokenStream {
    if editor::expands() {
        return items.clone();
    }
    let own = unique_name(name);
    let arms = own_arms(&own);
    let guard = format_ident!("__once{own}");
    let module = module_name(name, what);
    let first = quote!(pub(super) use #guard as first;);
    let definition = quote_spanned!(name.span()=> mod #module { #first });
    quote! {
        #[doc(hidden)]
        macro_rules! #guard { #arms }
        #[doc(hidden)]
        #definition
        #module::first! { @own #own { #items } }
    }
}

/// A readable name that is the same for items of one name in one module, as far as the file shows
/// its modules: an item of that name which `use super::*` imports is not reported.
fn module_name(name: &Ident, what: &str) -> Ident {
    let (text, span) = (plain(name), name.span());
    let file = span.file();
    // The end of the path, which is the same wherever the crate is built.
    let file = file.trim_end_matches(".rs").rsplit(['/', '\\']).take(2);
    let mut modules: Vec<&str> = file.filter(|part| !FILES_OF_ROOTS.contains(part)).collect();
    modules.reverse();
    let inline = inline::around(span);
    modules.extend(inline.iter().map(String::as_str));
    let mut own = format!("{}_is_a_{what}", snake_case(&text));
    let words = modules
        .iter()
        .flat_map(|module| module.split(|letter: char| !letter.is_ascii_alphanumeric()));
    let words: Vec<String> = words
        .filter(|word| !word.is_empty())
        .map(str::to_ascii_lowercase)
        .collect();
    if !words.is_empty() {
        own += "_in_";
        own += &words.join("_");
    }
    Ident::new(&own, span)
}

/// Parts of a path that do not identify a module.
const FILES_OF_ROOTS: [&str; 4] = ["src", "lib", "main", "mod"];

/// These items, unless the macro called `name` belongs to another item than `own`.
pub(crate) fn if_own(name: &Ident, own: &Ident, items: &TokenStream) -> TokenStream {
    if editor::expands() {
        items.clone()
    } else {
        quote!(#name! { @own #own { #items } })
    }
}

/// The arms of an item's macro that confirm this.
pub(crate) fn own_arms(own: &Ident) -> TokenStream {
    let d = dollar();
    quote! {
        (@own #own { #d(#d items:tt)* }) => { #d(#d items)* };
        (@own #d other:ident #d items:tt) => {};
    }
}

/// A name that is unique in the crate and the same in every build, because the exported macros of a
/// crate share one namespace, whatever module they are in.
pub(crate) fn unique_name(name: &Ident) -> Ident {
    let span = name.span();
    let mut hasher = DefaultHasher::new();
    (span.file(), span.start().line, span.start().column).hash(&mut hasher);
    expansion(span).hash(&mut hasher);
    format_ident!(
        "__flow_{}_{:016x}",
        plain(name),
        hasher.finish(),
        span = Span::call_site()
    )
}

/// The expansion of a `macro_rules!` that a name in it comes from, since each expansion has it at
/// the same place. `None` if it is in the user's code, or if the compiler does not tell.
fn expansion(span: Span) -> Option<String> {
    let shown = format!("{span:?}"); // `#12 bytes(3..7)`
    let (context, _) = shown.strip_prefix('#')?.split_once(' ')?;
    (context != "0").then(|| context.to_owned())
}
