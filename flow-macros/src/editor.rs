//! The parts of an expansion that an editor finds.
//!
//! An editor goes by place: it follows a word to every token of the expansion that has the place of
//! the word. Most of our code is shown where rustc is to report errors in it, which would lead from
//! the name of a node to twenty places. The expansion for rust-analyzer therefore shows generated
//! code at the call of the macro, and each word of the user only where it has its meaning. rustc
//! gets none of this.

use std::collections::HashSet;
use std::sync::LazyLock;

use proc_macro2::{Group, Ident, Span, TokenStream, TokenTree};

/// True if rust-analyzer expands the macro, in a separate process that compiles nothing.
static EXPANDS: LazyLock<bool> = LazyLock::new(|| {
    std::env::current_exe().is_ok_and(|exe| {
        let name = exe.file_name().unwrap_or_default().to_string_lossy();
        name.contains("rust-analyzer")
    })
});

/// Returns true if the expansion is for an editor, not for rustc.
pub(crate) fn expands() -> bool {
    #[cfg(test)]
    if FORCED.get() {
        return true;
    }
    *EXPANDS
}

#[cfg(test)]
thread_local! {
    /// Makes this thread expand for an editor.
    pub(crate) static FORCED: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

/// Generated code. An editor finds none of it at the user's words.
pub(crate) fn out_of_sight(tokens: TokenStream) -> TokenStream {
    out_of_sight_but(tokens, [])
}

/// Generated code that defines these names. An editor finds only the definitions at the user's
/// words: the first token with each name, and the methods with these names.
pub(crate) fn out_of_sight_but<'a>(
    tokens: TokenStream,
    names: impl IntoIterator<Item = &'a Ident>,
) -> TokenStream {
    if expands() {
        let names = names.into_iter().map(Ident::to_string).collect();
        moved(tokens, &names, &mut HashSet::new())
    } else {
        tokens
    }
}

/// These tokens, at one place and resolved there.
pub(crate) fn located_at(tokens: TokenStream, at: Span) -> TokenStream {
    let one = |token: TokenTree| {
        let mut token = match token {
            TokenTree::Group(group) => TokenTree::Group(Group::new(
                group.delimiter(),
                located_at(group.stream(), at),
            )),
            other => other,
        };
        token.set_span(at);
        token
    };
    tokens.into_iter().map(one).collect()
}

/// Shows the tokens at the call of the macro, except for the first one with each of these names and
/// for functions with these names. `shown` are the names that have been met.
fn moved(tokens: TokenStream, names: &HashSet<String>, shown: &mut HashSet<String>) -> TokenStream {
    let (mut in_attribute, mut in_function) = (false, false);
    let mut one = |token: TokenTree| {
        let attribute = std::mem::replace(
            &mut in_attribute,
            matches!(&token, TokenTree::Punct(punct) if punct.as_char() == '#'),
        );
        let function = std::mem::replace(
            &mut in_function,
            matches!(&token, TokenTree::Ident(ident) if ident == "fn"),
        );
        let place = token.span().located_at(Span::call_site());
        let mut token = match token {
            TokenTree::Ident(ident) => {
                let name = ident.to_string();
                if names.contains(&name) && (shown.insert(name) || function) {
                    return TokenTree::Ident(ident);
                }
                TokenTree::Ident(ident)
            }
            TokenTree::Group(group) => {
                let inner = if attribute {
                    moved(group.stream(), &HashSet::new(), shown)
                } else {
                    moved(group.stream(), names, shown)
                };
                TokenTree::Group(Group::new(group.delimiter(), inner))
            }
            other => other,
        };
        token.set_span(place);
        token
    };
    tokens.into_iter().map(&mut one).collect()
}
