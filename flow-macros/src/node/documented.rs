//! Doc comments on parameters: what a node says about what it reads. rustc knows them only on items, so
//! they are taken out of the code that stays.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};

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

/// The tokens, with what `change` makes of the groups with this delimiter.
fn replaced(
    tokens: TokenStream,
    delimiter: Delimiter,
    change: impl Fn(&Group) -> Option<TokenStream>,
) -> TokenStream {
    changed(&tokens, delimiter, change).unwrap_or(tokens)
}

/// The same. `None` if nothing changes: then the tokens are best left as they are.
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

/// Parameters without the doc comments on them. `None` if there are none.
fn parameters(group: &Group) -> Option<TokenStream> {
    let mut tokens = group.stream().into_iter().peekable();
    let mut kept = Vec::new();
    let mut found = false;
    while let Some(token) = tokens.next() {
        let is_hash = matches!(&token, TokenTree::Punct(punct) if punct.as_char() == '#');
        if is_hash && tokens.peek().is_some_and(is_doc) {
            tokens.next();
            found = true;
        } else {
            kept.push(token);
        }
    }
    found.then(|| kept.into_iter().collect())
}

/// Returns true if this is the `[doc = "…"]` of an attribute.
fn is_doc(token: &TokenTree) -> bool {
    let TokenTree::Group(group) = token else {
        return false;
    };
    let first = group.stream().into_iter().next();
    group.delimiter() == Delimiter::Bracket
        && matches!(first, Some(TokenTree::Ident(word)) if word == "doc")
}
