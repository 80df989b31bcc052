//! Requirements on an expansion, whatever the input was.

use std::collections::HashSet;

use proc_macro2::{Span, TokenStream, TokenTree};
use proptest::prelude::*;

use crate::names::plain;

/// An error in an expansion.
pub(super) struct Shown {
    pub(super) message: String,
    pub(super) span: Span,
}

/// All `compile_error!`s of an expansion, including those of the user.
pub(super) fn errors(tokens: &TokenStream) -> Vec<Shown> {
    let mut errors = Vec::new();
    let mut tokens = tokens.clone().into_iter().peekable();
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Group(group) => errors.extend(self::errors(&group.stream())),
            TokenTree::Ident(ident) if ident == "compile_error" => {
                tokens.next_if(|token| matches!(token, TokenTree::Punct(_)));
                if let Some(TokenTree::Group(group)) = tokens.peek()
                    && let Ok(message) = syn::parse2::<syn::LitStr>(group.stream())
                {
                    let (message, span) = (message.value(), ident.span());
                    errors.push(Shown { message, span });
                }
            }
            _ => {}
        }
    }
    errors
}

/// Checks that the expansion consists of items, and that each of its errors has a text.
pub(super) fn check(input: &TokenStream, output: &TokenStream) -> Result<(), TestCaseError> {
    let file = syn::parse2::<syn::File>(output.clone()).map_err(|error| {
        TestCaseError::fail(format!("{error}\ninput: {input}\noutput: {output}"))
    })?;
    let errors = errors(output);
    if errors.is_empty() {
        for item in &file.items {
            if let Some(name) = defined_twice(item) {
                return Err(TestCaseError::fail(format!(
                    "`{name}` is there twice\ninput: {input}"
                )));
            }
        }
    }
    for Shown { message, .. } in errors {
        let help_is_empty = message.lines().any(|line| line.trim_end() == "help:");
        prop_assert!(
            !message.trim().is_empty() && !help_is_empty,
            "an error says {message:?}\ninput: {input}"
        );
    }
    Ok(())
}

/// A variant or a field with the same name as another one.
fn defined_twice(item: &syn::Item) -> Option<String> {
    let names: Vec<String> = match item {
        syn::Item::Enum(item) => item
            .variants
            .iter()
            .map(|variant| plain(&variant.ident))
            .collect(),
        syn::Item::Struct(item) => {
            let names = item.fields.iter().filter_map(|field| field.ident.as_ref());
            names.map(plain).collect()
        }
        // `names! { { enum … } … }`
        syn::Item::Macro(item)
            if item
                .mac
                .path
                .segments
                .last()
                .is_some_and(|it| it.ident == "names") =>
        {
            let first = item.mac.tokens.clone().into_iter().next();
            let Some(TokenTree::Group(enumeration)) = first else {
                return Some("no enum in `names!`".to_owned());
            };
            return match syn::parse2(enumeration.stream()) {
                Ok(item) => defined_twice(&item),
                Err(error) => Some(format!("an enum that is none ({error})")),
            };
        }
        _ => Vec::new(),
    };
    let mut seen = HashSet::new();
    names.into_iter().find(|name| !seen.insert(name.clone()))
}

/// Checks that each error has a place. Something missing at the very end has none.
pub(super) fn check_places(input: &TokenStream, output: &TokenStream) -> Result<(), TestCaseError> {
    for Shown { message, span } in errors(output) {
        let at_end =
            message.starts_with("unexpected end of input") || message.starts_with("expected ");
        prop_assert!(
            at_end || is_place(span),
            "an error is nowhere: {message:?}\ninput: {input}"
        );
    }
    Ok(())
}

/// Returns true if the user wrote something there.
fn is_place(span: Span) -> bool {
    span.byte_range() != Span::call_site().byte_range()
}
