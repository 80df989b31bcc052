//! Names of the language.

use std::borrow::Cow;

use unicode_normalization::{UnicodeNormalization as _, is_nfc};

/// The words of the language that cannot be names of nodes.
pub const RESERVED_NAMES: [&str; 9] = [
    "start",
    "end",
    "wait",
    "undo",
    "commit",
    "node",
    "branch",
    "namespace",
    "for",
];

/// Returns an id or the name of an action in the composed form of Unicode (NFC).
pub fn composed(name: &str) -> Cow<'_, str> {
    if name.is_ascii() || is_nfc(name) {
        Cow::Borrowed(name)
    } else {
        Cow::Owned(name.nfc().collect())
    }
}

/// Returns `true` for the id of a node: a name in Rust that may also contain `-`. It has no dot,
/// which separates the names of a path.
pub(crate) fn is_node_name(id: &str) -> bool {
    let mut letters = id.chars();
    let first = letters
        .next()
        .is_some_and(|letter| unicode_ident::is_xid_start(letter) || letter == '_');
    first && letters.all(|letter| unicode_ident::is_xid_continue(letter) || letter == '-')
}

/// Returns a name of Rust in snake case, which is the name of a node without a declaration.
///
/// # Examples
///
/// ```
/// use flow_spec::snake_case;
///
/// assert_eq!(snake_case("NeedsRevision"), "needs_revision");
/// assert_eq!(snake_case("HTTPRequest2"), "http_request2");
/// ```
pub fn snake_case(name: &str) -> String {
    let name = name.strip_prefix("r#").unwrap_or(name);
    let letters: Vec<char> = name.chars().collect();
    let mut snake = String::with_capacity(name.len() + 4);
    for (index, &letter) in letters.iter().enumerate() {
        if letter.is_uppercase() && index > 0 {
            let after_small = !letters[index - 1].is_uppercase() && letters[index - 1] != '_';
            let before_small = letters
                .get(index + 1)
                .is_some_and(|next| next.is_lowercase());
            if after_small || (letters[index - 1].is_uppercase() && before_small) {
                snake.push('_');
            }
        }
        snake.extend(letter.to_lowercase());
    }
    snake
}

/// Returns a name in camel case, as `flow!` names the variants of its enums.
///
/// # Examples
///
/// ```
/// use flow_spec::camel_case;
///
/// assert_eq!(camel_case("needs_revision"), "NeedsRevision");
/// assert_eq!(camel_case("2nd"), "_2nd");
/// ```
pub fn camel_case(name: &str) -> String {
    let name = name.strip_prefix("r#").unwrap_or(name);
    let mut camel = String::with_capacity(name.len());
    for part in name.split(['_', '-', '.']) {
        let mut letters = part.chars();
        if let Some(first) = letters.next() {
            if first.is_ascii_digit() && camel.is_empty() {
                camel.push('_');
            }
            camel.extend(first.to_uppercase());
            camel.push_str(letters.as_str());
        }
    }
    camel
}

/// Words of Rust that can be names with `r#` before them.
const KEYWORDS: [&str; 48] = [
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "do", "dyn",
    "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let",
    "loop", "macro", "match", "mod", "move", "mut", "override", "priv", "pub", "ref", "return",
    "static", "struct", "trait", "true", "try", "type", "typeof", "unsafe", "unsized", "use",
    "virtual", "where", "while", "yield",
];

/// Returns a name as Rust writes it: with `r#` if it is a keyword. `None` if it cannot be a name.
///
/// # Examples
///
/// ```
/// use flow_spec::rust_name;
///
/// assert_eq!(rust_name("review").as_deref(), Some("review"));
/// assert_eq!(rust_name("type").as_deref(), Some("r#type"));
/// assert_eq!(rust_name("self"), None);
/// assert_eq!(rust_name("2nd"), None);
/// ```
pub fn rust_name(name: &str) -> Option<Cow<'_, str>> {
    let mut letters = name.chars();
    let first = letters.next()?;
    let begins = unicode_ident::is_xid_start(first) || first == '_';
    let is_name = begins && letters.all(unicode_ident::is_xid_continue);
    match name {
        _ if !is_name => None,
        "_" | "crate" | "self" | "super" | "Self" => None,
        _ if KEYWORDS.contains(&name) => Some(Cow::Owned(format!("r#{name}"))),
        _ => Some(Cow::Borrowed(name)),
    }
}

/// Returns a type's name, such as that of `std::any::type_name`, without its paths.
///
/// # Examples
///
/// ```
/// use flow_spec::short_name;
///
/// assert_eq!(short_name("alloc::vec::Vec<desk::Claim>"), "Vec<Claim>");
/// ```
pub fn short_name(name: &str) -> String {
    let is_path = |letter: char| letter.is_alphanumeric() || letter == '_' || letter == ':';
    let mut short = String::new();
    let mut rest = name;
    while let Some(start) = rest.find(is_path) {
        let (before, from) = rest.split_at(start);
        let end = from.find(|letter| !is_path(letter)).unwrap_or(from.len());
        let (path, after) = from.split_at(end);
        short.push_str(before);
        short.push_str(path.rsplit("::").next().unwrap_or(path));
        rest = after;
    }
    short.push_str(rest);
    short
}
