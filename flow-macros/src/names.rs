//! Names: converting their case, and identifiers for generated code.

use std::borrow::Cow;

use flow_spec::{Code, rust_name};
use proc_macro2::{Group, Ident, Punct, Spacing, Span, TokenStream, TokenTree};
use quote::ToTokens as _;
use syn::LitStr;

use crate::report::Report;

pub(crate) use flow_spec::{RESERVED_NAMES as RESERVED, camel_case, snake_case};

/// Reports a node that is named like a word of the language.
pub(crate) fn refuse_reserved(name: &Ident, report: &mut Report) -> bool {
    let text = plain(name);
    let is_reserved = RESERVED.contains(&text.as_str());
    if is_reserved {
        let message = format!("`{text}` is a word of the language");
        let help = format!("name it otherwise, such as `{text}_step`");
        report.error(Code::Name, name.span(), message, help);
    }
    is_reserved
}

/// The name of an action or the label of an end in a document, in the composed form of Unicode.
pub(crate) fn composed(literal: LitStr) -> LitStr {
    let text = literal.value();
    match flow_spec::document::__private::composed(&text) {
        Cow::Borrowed(_) => literal,
        Cow::Owned(text) => LitStr::new(&text, literal.span()),
    }
}

/// Returns true if the name starts with a capital letter, like those of types.
pub(crate) fn is_type_name(name: &Ident) -> bool {
    plain(name).starts_with(|letter: char| letter.is_uppercase())
}

/// The name as text, without the `r#` of a raw identifier.
pub(crate) fn plain(name: &Ident) -> String {
    let text = name.to_string();
    text.strip_prefix("r#").map(str::to_owned).unwrap_or(text)
}

/// The span of the user's code, resolved like generated code, for all definitions of our `let`s and
/// fields. An editor finds a definition only if it is resolved at its place.
pub(crate) fn here(user: Span) -> Span {
    if crate::editor::expands() {
        user
    } else {
        Span::call_site().located_at(user)
    }
}

/// Returns true if the text is a name, perhaps a raw one. It is not parsed, because rustc's lexer
/// takes long for several hundred names.
pub(crate) fn is_name(text: &str) -> bool {
    match text.strip_prefix("r#") {
        Some(raw) => rust_name(raw).is_some(),
        None => rust_name(text).is_some_and(|name| name == text),
    }
}

/// The keyword that prevents a path from leading to a macro: only its first words can be `crate`,
/// `self` or `super`.
pub(crate) fn keyword_in(path: &syn::Path) -> Option<&Ident> {
    let last = path.segments.len().saturating_sub(1);
    let names = path.segments.iter().map(|segment| &segment.ident);
    let mut keywords = names
        .enumerate()
        .filter(|(_, name)| !is_name(&name.to_string()));
    let leads_nowhere = |(index, name): &(usize, &Ident)| {
        *index == last || !["crate", "self", "super"].iter().any(|word| name == word)
    };
    keywords.find(leads_nowhere).map(|(_, name)| name)
}

/// An identifier of generated code, shown at the user's code.
pub(crate) fn ident(name: &str, user: Span) -> Ident {
    let span = here(user);
    let plain = name.strip_prefix("r#").unwrap_or(name);
    if let Some(written) = rust_name(plain) {
        let is_raw = written != plain || plain != name;
        return if is_raw {
            Ident::new_raw(plain, span)
        } else {
            Ident::new(plain, span)
        };
    }
    if matches!(name, "self" | "Self" | "super" | "crate") {
        return Ident::new(&format!("{name}_"), span);
    }
    // This is not a name, which is reported elsewhere. This identifier replaces it.
    let is_letter = |letter: &char| letter.is_ascii_alphanumeric() || *letter == '_';
    let letters: String = name.chars().filter(is_letter).collect();
    Ident::new(&format!("unnamed_{letters}"), span)
}

/// An identifier of generated code that cannot clash with a user's name.
pub(crate) fn hidden(prefix: &str, name: &str, user: Span) -> Ident {
    Ident::new(
        &format!("__{prefix}_{}", name.strip_prefix("r#").unwrap_or(name)),
        here(user),
    )
}

/// `$`, for the macros that we generate. `quote!` has rustc's lexer read each `$` in a template,
/// which takes long for several hundred macros.
pub(crate) fn dollar() -> Punct {
    Punct::new('$', Spacing::Alone)
}

/// A path in generated code: each token is shown where the user wrote it, and resolved where
/// generated code is.
pub(crate) fn located(path: &syn::Path) -> TokenStream {
    fn locate(tokens: TokenStream) -> TokenStream {
        let locate_one = |token: TokenTree| {
            let span = here(token.span());
            let mut token = match token {
                TokenTree::Group(group) => {
                    TokenTree::Group(Group::new(group.delimiter(), locate(group.stream())))
                }
                other => other,
            };
            token.set_span(span);
            token
        };
        tokens.into_iter().map(locate_one).collect()
    }
    locate(path.to_token_stream())
}

/// A path as its author would write it.
pub(crate) fn path_text(path: &syn::Path) -> String {
    path.to_token_stream().to_string().replace(' ', "")
}

/// The type of a value that begins with this path, as far as visible: that of `Ask { … }`, `Ask(…)`
/// and `Ask::new(…)` is `Ask`.
pub(crate) fn type_of(value: &syn::Path) -> String {
    let mut ty = value.clone();
    while ty
        .segments
        .last()
        .is_some_and(|last| !is_type_name(&last.ident))
    {
        ty.segments.pop();
        ty.segments.pop_punct();
    }
    if ty.segments.is_empty() {
        "Type".to_owned()
    } else {
        path_text(&ty)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cases() {
        for (camel, snake) in [
            ("NeedsRevision", "needs_revision"),
            ("Ok", "ok"),
            ("HttpCall", "http_call"),
            ("V2Api", "v2_api"),
        ] {
            assert_eq!(snake_case(camel), snake);
            assert_eq!(camel_case(snake), camel);
        }
        assert_eq!(snake_case("HTTPCall"), "http_call");
        assert_eq!(camel_case("2nd"), "_2nd");
    }

    #[test]
    fn names() {
        for name in [
            "review",
            "_",
            "_x",
            "r#type",
            "größe",
            "match_2",
            "union",
            "Self_",
            "macro_rules",
        ] {
            let parsed = syn::parse_str::<Ident>(name).is_ok_and(|ident| ident == name);
            assert_eq!(is_name(name), parsed, "{name}");
        }
        for no_name in [
            "",
            "2nd",
            "a b",
            " a",
            "a/**/",
            "type",
            "_",
            "self",
            "r#self",
            "r#",
            "\u{1f980}",
        ] {
            assert!(!is_name(no_name), "{no_name}");
        }
        let made = |name: &str| ident(name, Span::call_site()).to_string();
        assert_eq!(made("draft"), "draft");
        assert_eq!(made("type"), "r#type");
        assert_eq!(made("r#type"), "r#type");
        assert_eq!(made("self"), "self_");
        assert_eq!(made("a-b"), "unnamed_ab");
    }
}
