//! Text from a document that becomes Rust.

use std::borrow::Cow;

use flow_spec::rust_name;
use serde_json::{Number, Value};

use crate::layout::{Kind, Source};

/// The name in Rust. `None` if it is not a name.
pub(super) fn ident(name: &str) -> Option<String> {
    rust_name(name).map(Cow::into_owned)
}

/// The name of a function, a type or a flow: in Rust, with its generic arguments if it has some,
/// and without the arguments.
pub(super) fn path(text: &str) -> Option<(String, &str)> {
    let name = text.split('<').next().unwrap_or(text);
    let arguments = &text[name.len()..];
    let are_arguments = arguments.is_empty() || is_type(text) && arguments.ends_with('>');
    are_arguments.then_some(())?;
    Some((ident(name)? + arguments, name))
}

/// Returns true if the text can be a type: no part of it ends the type.
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

/// Returns true if the text is the path of a function, without generic arguments.
pub(super) fn is_path(text: &str) -> bool {
    let is_part =
        |part: &str| ident(part).is_some() || matches!(part, "crate" | "self" | "super" | "Self");
    let text = text.strip_prefix("::").unwrap_or(text);
    text.split("::").all(is_part)
}

/// Returns true if the text can be the condition of a branch.
pub(super) fn is_condition(text: &str) -> bool {
    is_closed(text, |token| matches!(token, ";" | "=>"))
}

/// Returns true if the text has closed brackets and quotes, no comments, and no token outside of
/// brackets that ends it.
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

/// The JSON as an expression of this type. `None` if the type is not one with literals, or a list
/// of such a type.
pub(super) fn value(json: &Value, rust_type: &str) -> Option<String> {
    let item = rust_type.strip_prefix("Vec<");
    if let (Some(item), Value::Array(items)) = (item.and_then(|rest| rest.strip_suffix('>')), json)
    {
        let items = items.iter().map(|json| value(json, item));
        let items: Option<Vec<String>> = items.collect();
        return Some(format!("vec![{}]", items?.join(", ")));
    }
    match (rust_type, json) {
        ("bool", Value::Bool(is)) => Some(is.to_string()),
        ("String", Value::String(text)) => Some(format!("{}.to_owned()", literal(text))),
        ("char", Value::String(text)) => {
            let letter = text.parse::<char>().ok()?;
            Some(format!("{letter:?}"))
        }
        ("f32", Value::Number(number)) => {
            let number = number
                .as_f64()
                .filter(|number| number.abs() <= f64::from(f32::MAX))?;
            Some(format!("{number:?}"))
        }
        ("f64", Value::Number(number)) => number.as_f64().map(|number| format!("{number:?}")),
        (_, Value::Number(number)) => is_in(number, rust_type).then(|| number.to_string()),
        _ => None,
    }
}

/// Returns true if the number fits this integer type.
fn is_in(number: &Number, rust_type: &str) -> bool {
    let text = number.to_string();
    match rust_type {
        "u8" => text.parse::<u8>().is_ok(),
        "u16" => text.parse::<u16>().is_ok(),
        "u32" => text.parse::<u32>().is_ok(),
        "u64" | "usize" => text.parse::<u64>().is_ok(),
        "u128" => text.parse::<u128>().is_ok(),
        "i8" => text.parse::<i8>().is_ok(),
        "i16" => text.parse::<i16>().is_ok(),
        "i32" => text.parse::<i32>().is_ok(),
        "i64" | "isize" => text.parse::<i64>().is_ok(),
        "i128" => text.parse::<i128>().is_ok(),
        _ => false,
    }
}

/// A documentation comment that ends with a line break.
pub(super) fn documentation(text: Option<&str>) -> String {
    let Some(text) = text else {
        return String::new();
    };
    let is_comment = |(letter, deceives): (char, bool)| letter == '\n' || !deceives;
    if !flow_spec::deceptive(text).all(is_comment) {
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
    fn values_are_literals() {
        use serde_json::json;
        for (json, rust_type, text) in [
            (json!(50), "u64", "50"),
            (json!(-5), "i8", "-5"),
            (json!(50), "f64", "50.0"),
            (json!(0.1), "f32", "0.1"),
            (json!(1e300), "f64", "1e300"),
            (json!(true), "bool", "true"),
            (json!("a\"; }"), "String", r#""a\"; }".to_owned()"#),
            (json!("'"), "char", r"'\''"),
            (json!([[1], []]), "Vec<Vec<u8>>", "vec![vec![1], vec![]]"),
        ] {
            assert_eq!(value(&json, rust_type).as_deref(), Some(text), "{json}");
        }
        for (json, rust_type) in [
            (json!(256), "u8"),
            (json!(-1), "u64"),
            (json!(1.5), "u64"),
            (json!(1e300), "f32"),
            (json!("ab"), "char"),
            (json!("a"), "PathBuf"),
            (json!({}), "Policy"),
            (json!(null), "u64"),
            (json!([1, "a"]), "Vec<u8>"),
            (json!(1), "Cents"),
        ] {
            assert_eq!(value(&json, rust_type), None, "{json} {rust_type}");
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
