//! Text from a document that becomes Rust.

use std::borrow::Cow;

use flow_spec::rust_name;

use crate::layout::{Kind, Source};

/// The name as Rust writes it. `None` if it is not a name.
pub(super) fn ident(name: &str) -> Option<String> {
    rust_name(name).map(Cow::into_owned)
}

/// The name of a function, a type or a flow, with generic arguments if it has some: as Rust writes
/// it, and without the arguments.
pub(super) fn path(text: &str) -> Option<(String, &str)> {
    let name = text.split('<').next().unwrap_or(text);
    let arguments = &text[name.len()..];
    let are_arguments = arguments.is_empty() || is_type(text) && arguments.ends_with('>');
    are_arguments.then_some(())?;
    Some((ident(name)? + arguments, name))
}

/// Whether the text can be a type: nothing in it ends the type.
pub(super) fn is_type(text: &str) -> bool {
    let mut angles = 0_usize;
    let ends = |token: &str| match token {
        "<" => {
            angles += 1;
            false
        }
        ">" | ">>" => match angles.checked_sub(token.len()) {
            Some(rest) => {
                angles = rest;
                false
            }
            None => true,
        },
        "," => angles == 0,
        ";" | "=" | "=>" | "{" => true,
        _ => false,
    };
    is_closed(text, ends) && angles == 0
}

/// Whether the text is the path of a function, without generic arguments.
pub(super) fn is_path(text: &str) -> bool {
    let is_part =
        |part: &str| ident(part).is_some() || matches!(part, "crate" | "self" | "super" | "Self");
    let text = text.strip_prefix("::").unwrap_or(text);
    text.split("::").all(is_part)
}

/// Whether the text can be the condition of a branch.
pub(super) fn is_condition(text: &str) -> bool {
    is_closed(text, |token| matches!(token, ";" | "=>"))
}

/// Whether the text has closed brackets and quotes, no comments, and outside of brackets nothing
/// that ends it.
fn is_closed(text: &str, mut ends: impl FnMut(&str) -> bool) -> bool {
    let Ok(source) = Source::new(text) else {
        return false;
    };
    let mut index = 0;
    while let Some(token) = source.tokens.get(index) {
        if ends(token.text) {
            return false;
        }
        index = match token.kind {
            Kind::Open => source.partner(index),
            _ => index,
        } + 1;
    }
    index > 0 && source.comments().is_empty()
}

/// A string in quotes.
pub(super) fn literal(text: &str) -> String {
    format!("{text:?}")
}

/// A documentation comment, with a line break at its end.
pub(super) fn documentation(text: Option<&str>) -> String {
    let Some(text) = text else {
        return String::new();
    };
    let is_comment = |letter: char| letter == '\n' || !flow_spec::is_deceptive(letter);
    if !text.chars().all(is_comment) {
        return format!("#[doc = {}]\n", literal(text));
    }
    let line = |line: &str| match line {
        "" => "///\n".to_owned(),
        line => format!("/// {line}\n"),
    };
    text.split('\n').map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_rust() {
        assert_eq!(ident("größe_2").as_deref(), Some("größe_2"));
        assert_eq!(ident("type").as_deref(), Some("r#type"));
        for name in ["", "_", "self", "a-b", "2a", "a b", "a::b"] {
            assert_eq!(ident(name), None, "{name}");
        }
        assert_eq!(path("Ask<Model>"), Some(("Ask<Model>".to_owned(), "Ask")));
        assert!(is_path("crate::Status::is_transient") && is_path("is_busy"));
        for text in ["", "a::", "a()", "a; b", "|_| true", "a::<B>"] {
            assert!(!is_path(text), "{text}");
        }
        assert_eq!(path("review"), Some(("review".to_owned(), "review")));
        for text in [
            "a.b",
            "Ask<",
            "Ask<A>; evil",
            "Ask<A> = b",
            "<A>",
            "Ask<A>, B<C>",
        ] {
            assert_eq!(path(text), None, "{text}");
        }
    }

    #[test]
    fn text_cannot_end_what_it_is_in() {
        for text in [
            "u64",
            "Vec<Vec<u8>>",
            "[u8; 4]",
            "(A, B)",
            "HashMap<K, V>",
            "&'static str",
        ] {
            assert!(is_type(text), "{text}");
        }
        for text in [
            "",
            "u64, b: u8",
            "u64) {",
            "u64 // x",
            "u64;",
            "Vec<u8",
            "Vec>",
            "A = B",
            "\"x",
        ] {
            assert!(!is_type(text), "{text}");
        }
        assert!(is_condition(
            "*years >= 40 && names.iter().any(|name| { name == \";\" })"
        ));
        for text in ["a => \"x\", b", "a; b", "", "a /* x */", "(a"] {
            assert!(!is_condition(text), "{text}");
        }
    }
}
