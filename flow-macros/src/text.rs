//! Types: as text, and what their names show.

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens as _, quote};
use syn::{GenericArgument, PathArguments, Type, TypePath};

/// A type as its author would write it.
pub(crate) fn type_text(ty: &Type) -> String {
    let mut text = ty.to_token_stream().to_string();
    for (spaced, tight) in [
        (" :: ", "::"),
        (":: ", "::"),
        (" ::", "::"),
        (" < ", "<"),
        (" <", "<"),
        ("< ", "<"),
        (" >", ">"),
        ("& ", "&"),
        (" ,", ","),
        ("( ", "("),
        (" )", ")"),
        ("[ ", "["),
        (" ]", "]"),
        (" ;", ";"),
        ("' ", "'"),
    ] {
        text = text.replace(spaced, tight);
    }
    text
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

/// A type that owns what another one borrows.
pub(crate) struct Owned {
    pub(crate) ty: Type,
    /// The place of the first `&`.
    pub(crate) borrow: Span,
}

/// The owned form of a type that borrows for less than `'static`: `Vec<String>` for `Vec<&str>`.
/// `None` if it borrows nothing, or if it contains a function type, which may borrow.
pub(crate) fn owned(ty: &Type) -> Option<Owned> {
    let mut borrow = None;
    let tokens = owned_tokens(ty.to_token_stream(), &mut borrow)?;
    Some(Owned {
        ty: syn::parse2(tokens).ok()?,
        borrow: borrow?,
    })
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
                        match items.clone().into_iter().any(|token| is_mark(&token, ';')) {
                            true => owned.extend(quote!([#items])),
                            false => owned.extend(quote!(Vec<#items>)),
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
