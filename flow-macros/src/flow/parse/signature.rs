//! Parses the name of a flow, its inputs and outputs, and its namespace.

use flow_spec::Code;
use syn::ext::IdentExt as _;
use syn::parse::ParseStream;
use syn::punctuated::Punctuated;
use syn::{Attribute, Ident, LitStr, Token, Type, parenthesized, token};

use crate::flow::syntax::{FlowSyntax, Parameter};
use crate::report::Report;
use crate::text::{Owned, option_of, owned, type_text};

pub(super) fn parameters(
    input: ParseStream<'_>,
    expected: &str,
    report: &mut Report,
) -> syn::Result<Vec<Parameter>> {
    if input.peek(Token![<]) {
        let text = "a flow is not generic: every key has one type. What varies can be a setting, as in \
                    `node ask: Ask<Box<dyn Model>>;`";
        return Err(input.error(text));
    }
    if !input.peek(token::Paren) {
        return Err(input.error(format!("expected {expected}")));
    }
    let content;
    parenthesized!(content in input);
    let parsed = Punctuated::<Parameter, Token![,]>::parse_terminated_with(&content, parameter)?;
    let mut parameters: Vec<Parameter> = parsed.into_iter().collect();
    for parameter in &mut parameters {
        own(parameter, report);
    }
    Ok(parameters)
}

/// A key and its type.
fn parameter(input: ParseStream<'_>) -> syn::Result<Parameter> {
    let attributes = input.call(Attribute::parse_outer)?;
    let text = "expected a key and its type: `key: Type`";
    let name: Ident =
        input.parse().map_err(
            |error: syn::Error| match input.fork().call(Ident::parse_any) {
                Ok(word) if word != "_" => {
                    let text =
                        format!("`{word}` is a word of Rust: as a key it is written `r#{word}`");
                    syn::Error::new(word.span(), text)
                }
                _ => syn::Error::new(error.span(), text),
            },
        )?;
    input
        .parse::<Token![:]>()
        .map_err(|_| syn::Error::new(name.span(), text))?;
    let ty: Type = input.parse()?;
    if input.peek(Token![=]) {
        let inner = type_text(option_of(&ty).unwrap_or(&ty));
        let text = format!(
            "a key has no default: the caller may leave out `{name}: Option<{inner}>`, and a node says what it \
             is then"
        );
        return Err(input.error(text));
    }
    Ok(match option_of(&ty) {
        Some(inner) => Parameter {
            attributes,
            name,
            ty: inner.clone(),
            optional: true,
        },
        None => Parameter {
            attributes,
            name,
            ty,
            optional: false,
        },
    })
}

/// A flow owns its values. A borrowed type is reported, and then counts as owned.
fn own(Parameter { name, ty, .. }: &mut Parameter, report: &mut Report) {
    if let Some(Owned { ty: owned, borrow }) = owned(ty) {
        let message = format!("`{name}` is borrowed, and a flow owns its values");
        let help = format!("write `{}`", type_text(&owned));
        report.error(Code::Malformed, borrow, message, help);
        *ty = owned;
    }
}

/// `namespace "sales.research"`
pub(super) fn namespace(
    input: ParseStream<'_>,
    flow: &mut FlowSyntax,
    report: &mut Report,
) -> syn::Result<()> {
    let keyword: Ident = input.parse()?;
    let namespace: LitStr = input
        .parse()
        .map_err(|error| syn::Error::new(error.span(), "expected the namespace in quotes"))?;
    check_namespace(&namespace, report);
    if flow.namespace.replace(namespace).is_some() {
        report.error(
            Code::Name,
            keyword.span(),
            "a second namespace",
            "a flow has one: remove one of them",
        );
    }
    Ok(())
}

/// Checks a namespace, which is names joined by dots, like a path.
fn check_namespace(namespace: &LitStr, report: &mut Report) {
    let is_name = |segment: &str| {
        let mut letters = segment.chars();
        letters
            .next()
            .is_some_and(|first| first.is_alphabetic() || first == '_')
            && letters.all(|letter| letter.is_alphanumeric() || letter == '_' || letter == '-')
    };
    if !namespace.value().split('.').all(is_name) {
        let help = "write names joined by dots, such as \"sales.research\"";
        report.error(
            Code::Malformed,
            namespace.span(),
            format!("`{}` is not a namespace", namespace.value()),
            help,
        );
    }
}
