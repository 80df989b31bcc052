//! Doc comments on parameters, the documentation of a node's reads. rustc allows them only on
//! items, so they are removed from the remaining code.

use proc_macro2::{Delimiter, Group, Ident, TokenStream, TokenTree};
use quote::quote;

/// Documentation of parameters by a macro, such as `include_str!("claim.md")`, as constants. rustc
/// then reports mistakes in it, and tracks its files.
pub(super) fn constants(item: &TokenStream) -> TokenStream {
    let groups = groups(item.clone());
    let of_methods = groups
        .iter()
        .filter(|group| group.delimiter() == Delimiter::Brace);
    let of_methods = of_methods.flat_map(|block| self::groups(block.stream()));
    let parameters = groups.iter().cloned().chain(of_methods);
    let parameters = parameters.filter(|group| group.delimiter() == Delimiter::Parenthesis);
    let mut found = TokenStream::new();
    for doc in parameters.flat_map(|group| self::groups(group.stream())) {
        let value: TokenStream = doc.stream().into_iter().skip(2).collect();
        let is_macro = syn::parse2::<syn::ExprMacro>(value.clone()).is_ok();
        if is_macro && first_word(&doc).is_some_and(|word| word == "doc") {
            found.extend(quote!(const _: &::core::primitive::str = #value;));
        }
    }
    found
}

fn groups(tokens: TokenStream) -> Vec<Group> {
    let groups = tokens.into_iter().filter_map(|token| match token {
        TokenTree::Group(group) => Some(group),
        _ => None,
    });
    groups.collect()
}

/// A function without the doc comments on its parameters.
pub(super) fn of_function(item: TokenStream) -> TokenStream {
    replaced(item, Delimiter::Parenthesis, parameters)
}

/// An `impl` block without the doc comments on the parameters of its methods.
pub(super) fn of_block(item: TokenStream) -> TokenStream {
    let methods = |group: &Group| {
        let methods = group.stream();
        changed(&methods, Delimiter::Parenthesis, parameters)
    };
    replaced(item, Delimiter::Brace, methods)
}

/// The tokens with `change` applied to the groups with this delimiter.
pub(super) fn replaced(
    tokens: TokenStream,
    delimiter: Delimiter,
    change: impl Fn(&Group) -> Option<TokenStream>,
) -> TokenStream {
    changed(&tokens, delimiter, change).unwrap_or(tokens)
}

/// Like `replaced`. `None` if nothing changes: then the tokens are best left as they are.
fn changed(
    tokens: &TokenStream,
    delimiter: Delimiter,
    change: impl Fn(&Group) -> Option<TokenStream>,
) -> Option<TokenStream> {
    let mut is_changed = false;
    let tokens = tokens.clone().into_iter().map(|token| match token {
        TokenTree::Group(group) if group.delimiter() == delimiter => match change(&group) {
            Some(stream) => {
                is_changed = true;
                let mut changed = Group::new(delimiter, stream);
                changed.set_span(group.span());
                TokenTree::Group(changed)
            }
            None => TokenTree::Group(group),
        },
        token => token,
    });
    let tokens = tokens.collect();
    is_changed.then_some(tokens)
}

/// Parameters without their doc comments. `None` if there are none. A misplaced doc comment stays:
/// rustc reports it.
fn parameters(group: &Group) -> Option<TokenStream> {
    let mut tokens = group.stream().into_iter().peekable();
    let (mut kept, mut docs) = (Vec::new(), Vec::new());
    let mut found = false;
    // Attributes stand before a parameter.
    let mut is_before = true;
    while let Some(token) = tokens.next() {
        let is_mark = |mark: char| matches!(&token, TokenTree::Punct(it) if it.as_char() == mark);
        if is_before && is_mark('#') {
            let is_doc = tokens.peek().is_some_and(is_doc);
            let attribute = [Some(token), tokens.next()].into_iter().flatten();
            if is_doc {
                docs.extend(attribute);
            } else {
                kept.extend(attribute);
            }
            continue;
        }
        found |= !docs.is_empty();
        docs.clear();
        is_before = is_mark(',');
        kept.push(token);
    }
    // The remaining ones document nothing.
    kept.extend(docs);
    found.then(|| kept.into_iter().collect())
}

/// Returns true for the `[doc = "…"]` of an attribute, even of one with a condition, which is
/// refused.
fn is_doc(token: &TokenTree) -> bool {
    let TokenTree::Group(group) = token else {
        return false;
    };
    group.delimiter() == Delimiter::Bracket
        && first_word(group).is_some_and(|word| {
            word == "doc" || word == "cfg_attr" && in_parentheses(group).any(|word| word == "doc")
        })
}

fn first_word(group: &Group) -> Option<Ident> {
    match group.stream().into_iter().next()? {
        TokenTree::Ident(word) => Some(word),
        _ => None,
    }
}

/// The words between the parentheses of an attribute.
fn in_parentheses(attribute: &Group) -> impl Iterator<Item = Ident> {
    let inner = groups(attribute.stream()).into_iter();
    let tokens = inner.flat_map(|group| group.stream());
    tokens.filter_map(|token| match token {
        TokenTree::Ident(word) => Some(word),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_documents_a_parameter_is_taken_out() {
        let function = quote! {
            fn exec(&self, #[doc = "a"] #[cfg(x)] #[doc = "b"] a: Map<A, B>, #[doc = "c"] c: (u8,)) {}
        };
        let plain = quote!(
            fn exec(&self, #[cfg(x)] a: Map<A, B>, c: (u8,)) {}
        );
        assert_eq!(of_function(function.clone()).to_string(), plain.to_string());
        let block = of_block(quote!(impl A { #[doc = "m"] #function }));
        let expected = quote!(impl A { #[doc = "m"] #plain });
        assert_eq!(block.to_string(), expected.to_string());
        for wrong in [
            quote!(fn f(a: A #[doc = "b"]) {}),
            quote!(fn f(#[doc = "b"]) {}),
            quote!(fn f(a: A, #[doc = "b"]) {}),
            quote!(fn f(a: #[doc = "b"] A) {}),
        ] {
            assert_eq!(of_function(wrong.clone()).to_string(), wrong.to_string());
        }
    }
}
