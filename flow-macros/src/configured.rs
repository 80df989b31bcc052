//! `#[cfg(…)]` and `#[cfg_attr(…)]` before rustc evaluates them: a macro gets the inside of its
//! input as written, and cannot evaluate a condition.

use flow_spec::Code;
use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens as _;
use syn::parse::{ParseStream, Parser as _};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned as _;
use syn::{Attribute, Meta, Token};

use crate::report::Report;

/// `#[cfg_attr(condition, attributes)]`
pub(crate) struct Conditional {
    pub(crate) condition: TokenStream,
    pub(crate) attributes: Vec<Meta>,
}

impl Conditional {
    /// Returns `None` for another attribute.
    pub(crate) fn of(meta: &Meta) -> Option<Self> {
        let list = meta.require_list().ok()?;
        if !list.path.is_ident("cfg_attr") {
            return None;
        }
        let parts = |input: ParseStream<'_>| {
            let mut condition = TokenStream::new();
            while !input.is_empty() && !input.peek(Token![,]) {
                condition.extend([input.parse::<TokenTree>()?]);
            }
            input.parse::<Option<Token![,]>>()?;
            let attributes = Punctuated::<Meta, Token![,]>::parse_terminated(input)?;
            Ok(Conditional {
                condition,
                attributes: attributes.into_iter().collect(),
            })
        };
        parts.parse2(list.tokens.clone()).ok()
    }
}

/// A part of a macro's input that may have a condition.
pub(crate) struct Part<'a> {
    pub(crate) attributes: &'a [Attribute],
    /// The name of the part in messages, such as "the field `why`".
    pub(crate) what: String,
    /// The whole that can have a condition instead: "the whole enum".
    pub(crate) whole: &'a str,
    /// The attributes that the macro reads.
    pub(crate) read: &'a [&'a str],
}

impl Part<'_> {
    /// Reports conditions that decide if the part exists, or what the macro reads from it.
    pub(crate) fn refuse_conditions(&self, report: &mut Report) {
        for attribute in self.attributes {
            let adds = |name: &str| adds(&attribute.meta, name);
            let message = if attribute.path().is_ident("cfg") || adds("cfg") {
                format!("`#[node]` cannot see whether {} is there", self.what)
            } else if let Some(name) = self.read.iter().find(|name| adds(name)) {
                format!(
                    "`#[node]` cannot see whether {} has this `{name}`",
                    self.what
                )
            } else {
                continue;
            };
            let help = format!(
                "put `#[cfg(…)]` before {}, and write one for each configuration",
                self.whole
            );
            report.error(Code::Malformed, attribute.span(), message, help);
        }
    }
}

/// Returns true if a `cfg_attr` adds an attribute of this name.
fn adds(meta: &Meta, name: &str) -> bool {
    let Some(conditional) = Conditional::of(meta) else {
        return false;
    };
    let mut added = conditional.attributes.iter();
    added.any(|meta| meta.path().is_ident(name) || adds(meta, name))
}

/// Returns true for `#[cfg(…)]` and `#[cfg_attr(…)]`.
pub(crate) fn is_condition(attribute: &Attribute) -> bool {
    let path = attribute.path();
    path.is_ident("cfg") || path.is_ident("cfg_attr")
}

/// The first of these attributes that rustc adds conditionally: the condition, and the attributes
/// if it holds and if it does not.
pub(crate) fn alternatives(
    attributes: &[Attribute],
) -> Option<(TokenStream, TokenStream, TokenStream)> {
    let found = attributes.iter().enumerate();
    let mut found =
        found.filter_map(|(at, attribute)| Some((at, Conditional::of(&attribute.meta)?)));
    let (at, conditional) = found.next()?;
    let (before, after) = (&attributes[..at], &attributes[at + 1..]);
    let tokens = |attributes: &[Attribute]| -> TokenStream {
        let tokens = attributes
            .iter()
            .map(|attribute| attribute.to_token_stream());
        tokens.collect()
    };
    let added: TokenStream = conditional
        .attributes
        .iter()
        .map(|meta| quote::quote!(#[#meta]))
        .collect();
    let (before, after) = (tokens(before), tokens(after));
    Some((
        conditional.condition,
        quote::quote!(#before #added #after),
        quote::quote!(#before #after),
    ))
}
