//! Types as text, and the facts that their names show.

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::{GenericArgument, Lifetime, PathArguments, Type, TypePath};

/// A type as its author would write it.
pub(crate) fn type_text(ty: &Type) -> String {
    let mut text = String::new();
    push_tokens(&mut text, ty.to_token_stream());
    text
}

fn push_tokens(text: &mut String, tokens: TokenStream) {
    for token in tokens {
        let (open, close) = match &token {
            TokenTree::Group(group) => match group.delimiter() {
                Delimiter::Parenthesis => ("(", ")"),
                Delimiter::Bracket => ("[", "]"),
                Delimiter::Brace => ("{ ", " }"),
                Delimiter::None => ("", ""),
            },
            _ => ("", ""),
        };
        if is_apart(text, &token) {
            text.push(' ');
        }
        match token {
            TokenTree::Group(group) => {
                text.push_str(open);
                push_tokens(text, group.stream());
                text.push_str(close);
            }
            token => text.push_str(&token.to_string()),
        }
    }
}

/// Returns true if there is a space between the text and the next token of the type.
fn is_apart(text: &str, next: &TokenTree) -> bool {
    let Some(last) = text.chars().last() else {
        return false;
    };
    let after_keyword = || ["dyn", "impl", "as", "mut", "const"].contains(&last_word(text));
    match (last, next) {
        ('>', _) if text.ends_with("->") => true,
        (',' | ';' | '+' | '=', _) => true,
        ('(' | '[' | '<' | '&' | '*' | '\'' | '-' | ' ', _) => false,
        (':', TokenTree::Punct(mark)) if mark.as_char() == ':' => false,
        (':', _) => !text.ends_with("::"),
        (_, TokenTree::Punct(mark)) => match mark.as_char() {
            '+' | '=' | '-' => true,
            '&' | '*' | '\'' => is_word(last),
            // A path from the root.
            ':' => after_keyword(),
            _ => false,
        },
        (_, TokenTree::Group(group)) if group.delimiter() != Delimiter::None => after_keyword(),
        _ => is_word(last) || matches!(last, '>' | ')' | ']'),
    }
}

fn is_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

fn last_word(text: &str) -> &str {
    text.rsplit(|letter| !is_word(letter))
        .next()
        .unwrap_or_default()
}

/// `T` of `Option<T>`.
pub(crate) fn option_of(ty: &Type) -> Option<&Type> {
    let Type::Path(TypePath {
        qself: None, path, ..
    }) = ty
    else {
        return None;
    };
    let segment = path
        .segments
        .last()
        .filter(|segment| segment.ident == "Option")?;
    let PathArguments::AngleBracketed(arguments) = &segment.arguments else {
        return None;
    };
    match arguments.args.first() {
        Some(GenericArgument::Type(ty)) => Some(ty),
        _ => None,
    }
}

/// The last name of a type's path.
pub(crate) fn last_segment(ty: &Type) -> Option<&Ident> {
    match ty {
        Type::Path(path) => path.path.segments.last().map(|segment| &segment.ident),
        _ => None,
    }
}

/// The owned form of a borrowing type.
pub(crate) struct Owned {
    pub(crate) ty: Type,
    /// The place of the first `&`.
    pub(crate) borrow: Span,
}

/// Returns true for the name of a type of the standard library whose values can be sent and shared
/// between threads if their contents can.
pub(crate) fn is_of_std(name: &Ident) -> bool {
    const NAMES: [&str; 30] = [
        "bool", "char", "str", "u8", "u16", "u32", "u64", "u128", "usize", "i8", "i16", "i32",
        "i64", "i128", "isize", "f32", "f64", "String", "Path", "PathBuf", "Duration", "Vec",
        "Option", "Box", "Arc", "Cow", "HashMap", "BTreeMap", "HashSet", "BTreeSet",
    ];
    NAMES.iter().any(|known| name == known)
}

/// Returns true if all names in the type are of the standard library, so that rustc need not check
/// if its values can be sent. Such types are common, and each check takes time.
pub(crate) fn is_plain(ty: &TokenStream) -> bool {
    ty.clone().into_iter().all(|token| match token {
        TokenTree::Ident(name) => is_of_std(&name),
        TokenTree::Group(group) => is_plain(&group.stream()),
        TokenTree::Punct(mark) => mark.as_char() != '\'',
        TokenTree::Literal(_) => true,
    })
}

/// Returns true if a type consists of names of the standard library.
pub(crate) fn is_plain_text(ty: &str) -> bool {
    ty.parse().is_ok_and(|tokens| is_plain(&tokens))
}

/// Returns true if the path of a node has arguments, so that its own types may be parameters.
pub(crate) fn has_arguments(path: &syn::Path) -> bool {
    let last = path.segments.last();
    last.is_some_and(|last| !last.arguments.is_none())
}

/// Returns true if a type is a path, possibly with arguments, and contains nothing that other types
/// coerce to: `flow!` compares such types.
pub(crate) fn is_compared(text: &str) -> bool {
    const OTHERS: [&str; 11] = [
        "dyn", "fn", "impl", "Self", "_", "std", "core", "alloc", "Path", "OsStr", "CStr",
    ];
    let is_path = |letter: char| letter.is_alphanumeric() || "_:<>, ".contains(letter);
    let mut words = text.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
    !text.is_empty() && text.chars().all(is_path) && words.all(|word| !OTHERS.contains(&word))
}

/// `T` of `[T]`.
pub(crate) fn item_of_slice(text: &str) -> Option<&str> {
    text.strip_prefix('[')?.strip_suffix(']')
}

/// `T` of `Vec<T>`.
pub(crate) fn item_of_vec(text: &str) -> Option<&str> {
    text.strip_prefix("Vec<")?.strip_suffix('>')
}

/// The owned form of a type that borrows for less than `'static`: `Vec<String>` for `Vec<&str>`.
/// `None` if it borrows nothing, or if it contains a function type, which may borrow.
pub(crate) fn owned(ty: &Type) -> Option<Owned> {
    let mut borrow = None;
    let tokens = owned_tokens(ty.to_token_stream(), &mut borrow)?;
    // Before parsing the tokens: there are many types, and most borrow nothing.
    let borrow = borrow?;
    let ty = syn::parse2(tokens).ok()?;
    Some(Owned { ty, borrow })
}

fn owned_tokens(tokens: TokenStream, borrow: &mut Option<Span>) -> Option<TokenStream> {
    let mut owned = TokenStream::new();
    let mut rest = tokens.into_iter().peekable();
    while let Some(token) = rest.next() {
        match token {
            TokenTree::Ident(word)
                if ["fn", "Fn", "FnMut", "FnOnce"].iter().any(|it| word == it) =>
            {
                return None;
            }
            TokenTree::Punct(and) if and.as_char() == '&' => {
                let mut lifetime = TokenStream::new();
                if let Some(quote) = rest.next_if(|next| is_mark(next, '\'')) {
                    lifetime.extend([quote]);
                    lifetime.extend(rest.next());
                }
                if lifetime.to_string().replace(' ', "") == "'static" {
                    owned.extend([TokenTree::Punct(and)]);
                    owned.extend(lifetime);
                    continue;
                }
                borrow.get_or_insert(and.span());
                rest.next_if(|next| matches!(next, TokenTree::Ident(word) if word == "mut"));
                match rest.next()? {
                    TokenTree::Ident(word) if word == "str" => {
                        owned.extend([TokenTree::Ident(Ident::new("String", word.span()))]);
                    }
                    TokenTree::Group(slice) if slice.delimiter() == Delimiter::Bracket => {
                        let items = owned_tokens(slice.stream(), borrow)?;
                        if items.clone().into_iter().any(|token| is_mark(&token, ';')) {
                            owned.extend(quote!([#items]))
                        } else {
                            owned.extend(quote!(Vec<#items>))
                        }
                    }
                    TokenTree::Group(group) => {
                        let inner = owned_tokens(group.stream(), borrow)?;
                        owned.extend([TokenTree::Group(Group::new(group.delimiter(), inner))]);
                    }
                    other => owned.extend([other]),
                }
            }
            TokenTree::Group(group) => {
                let inner = owned_tokens(group.stream(), borrow)?;
                owned.extend([TokenTree::Group(Group::new(group.delimiter(), inner))]);
            }
            other => owned.extend([other]),
        }
    }
    Some(owned)
}

fn is_mark(token: &TokenTree, mark: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == mark)
}

/// The lifetimes in a type.
pub(crate) fn lifetimes(ty: &impl ToTokens) -> impl Iterator<Item = Lifetime> {
    fn find(tokens: TokenStream, found: &mut Vec<Lifetime>) {
        let mut tokens = tokens.into_iter();
        while let Some(token) = tokens.next() {
            match token {
                TokenTree::Group(group) => find(group.stream(), found),
                TokenTree::Punct(quote) if quote.as_char() == '\'' => {
                    if let Some(TokenTree::Ident(ident)) = tokens.next() {
                        let apostrophe = quote.span();
                        found.push(Lifetime { apostrophe, ident });
                    }
                }
                _ => {}
            }
        }
    }
    let mut found = Vec::new();
    find(ty.to_token_stream(), &mut found);
    found.into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_written_as_their_authors_would() {
        for text in [
            "u64",
            "&str",
            "&'a mut [u8]",
            "Vec<Option<(u8, String)>>",
            "std::collections::HashMap<&'static str, [u8; 4]>",
            "::std::string::String",
            "Box<dyn Fn(&str) -> Result<(), Error> + Send + 'static>",
            "Box<dyn for<'a> Fn(&'a str) -> &'a str>",
            "Arc<dyn ::std::fmt::Debug>",
            "<Ask as Model>::Answer",
            "fn(u8, &[u8]) -> (u8, u8)",
            "impl Iterator<Item = u8>",
            "impl Iterator<Item: Copy>",
            "*const u8",
            "Matrix<-1, { N }>",
            "r#type",
            "!",
            "()",
        ] {
            let ty: Type = syn::parse_str(text).expect("a type");
            assert_eq!(type_text(&ty), text);
        }
    }

    #[test]
    fn a_type_from_a_macro_is_written_without_a_trace() {
        let inner: Type = syn::parse_str("Vec<u8>").expect("a type");
        let inner = TokenTree::Group(Group::new(Delimiter::None, inner.to_token_stream()));
        let ty: Type = syn::parse2(quote!(&#inner)).expect("a type");
        assert_eq!(type_text(&ty), "&Vec<u8>");
    }
}
