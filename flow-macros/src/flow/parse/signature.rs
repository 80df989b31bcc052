//! Parses the name of a flow, its inputs and outputs, and its namespace.

use std::collections::HashSet;

use flow_spec::Code;
use proc_macro2::{Delimiter, TokenStream, TokenTree};
use quote::{ToTokens as _, quote};
use syn::ext::IdentExt as _;
use syn::parse::ParseStream;
use syn::punctuated::{Pair, Punctuated};
use syn::spanned::Spanned as _;
use syn::{Attribute, Expr, Ident, LitStr, Token, Type, TypeTraitObject, parenthesized, token};

use crate::configured::is_condition;
use crate::documentation::refuse_unknown;
use crate::flow::printed::printed;
use crate::flow::syntax::{FlowSyntax, Parameter};
use crate::report::Report;
use crate::text::{Owned, option_of, owned, type_text};

/// The inputs.
pub(super) fn inputs(input: ParseStream<'_>, report: &mut Report) -> syn::Result<Vec<Parameter>> {
    let expected = "the flow's inputs: `Name(key: Type, …)`, or `Name()`";
    let mut inputs = parameters(input, expected, report)?;
    let names: HashSet<String> = inputs.iter().map(|input| input.name.to_string()).collect();
    for input in &mut inputs {
        refuse_option(input, report);
        refuse_reads(input, &names, report);
    }
    Ok(inputs)
}

/// The outputs.
pub(super) fn outputs(input: ParseStream<'_>, report: &mut Report) -> syn::Result<Vec<Parameter>> {
    let expected = "the flow's outputs: `-> (key: Type, …)`";
    let mut outputs = parameters(input, expected, report)?;
    for output in &mut outputs {
        refuse_default(output, report);
    }
    Ok(outputs)
}

fn parameters(
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
        refuse_attributes(parameter, report);
        own(parameter, report);
    }
    Ok(parameters)
}

/// A key and its type.
fn parameter(input: ParseStream<'_>) -> syn::Result<Parameter> {
    let attributes = input.call(Attribute::parse_outer)?;
    if input.peek(Token![+]) {
        let text = "the `+` stands where a node writes the key, `#[node(writes = +key)]`: here is its name alone";
        return Err(input.error(text));
    }
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
    if input.peek(Token![?]) {
        let mark = input.span();
        input.parse::<Token![?]>()?;
        input.parse::<Option<Token![:]>>()?;
        let ty: syn::Result<Type> = input.parse();
        let ty = ty.map_or_else(|_| "Type".to_owned(), |ty| type_text(&ty));
        let text = format!("what may be missing is an `Option`: `{name}: Option<{ty}>`");
        return Err(syn::Error::new(mark, text));
    }
    input
        .parse::<Token![:]>()
        .map_err(|_| syn::Error::new(name.span(), text))?;
    let ty: Type = input.parse()?;
    if let Type::TraitObject(TypeTraitObject { bounds, .. }) = &ty
        && let Some(Pair::Punctuated(_, plus)) = bounds.pairs().next_back()
    {
        return Err(syn::Error::new(
            plus.span,
            "nothing follows this `+`: remove it, or name a trait",
        ));
    }
    let default = match input.parse::<Option<Token![=]>>()? {
        Some(_) => Some(default(&name, input)?),
        None => None,
    };
    let inner = option_of(&ty);
    Ok(Parameter {
        attributes,
        name,
        optional: inner.is_some(),
        ty: inner.cloned().unwrap_or(ty),
        default,
    })
}

/// The expression after `=`.
fn default(name: &Ident, input: ParseStream<'_>) -> syn::Result<Expr> {
    let expected = |span| {
        let text = format!("expected the default of `{name}` after `=`");
        syn::Error::new(span, text)
    };
    if input.is_empty() || input.peek(Token![,]) {
        return Err(expected(input.span()));
    }
    input.parse().map_err(|error| expected(error.span()))
}

/// Refuses attributes, which would be lost. Doc comments belong to the key.
fn refuse_attributes(
    Parameter {
        attributes,
        name,
        ty,
        ..
    }: &Parameter,
    report: &mut Report,
) {
    refuse_unknown(attributes, report);
    for attribute in attributes {
        let path = attribute.path();
        if path.is_ident("doc") {
            continue;
        }
        let message = format!("`{name}` takes no attribute but doc comments");
        let is_default = attribute
            .meta
            .to_token_stream()
            .to_string()
            .contains("default");
        let help = if is_default {
            format!("write a default as `{name}: {} = …`", type_text(ty))
        } else if is_condition(attribute) {
            "write one flow for each configuration, with `#[cfg(…)]` before each `flow!`".to_owned()
        } else {
            "remove it: what concerns a type belongs where the type is defined".to_owned()
        };
        report.error(Code::Malformed, attribute.span(), message, help);
    }
}

/// Refuses a default of an `Option`, which would never be `None`. It then counts as missing.
fn refuse_option(parameter: &mut Parameter, report: &mut Report) {
    if !parameter.optional {
        return;
    }
    let Some(default) = parameter.default.take() else {
        return;
    };
    let Parameter { name, ty, .. } = &*parameter;
    let (text, ty) = (printed(default.to_token_stream()), type_text(ty));
    let inner = text
        .strip_prefix("Some(")
        .and_then(|rest| rest.strip_suffix(')'));
    let help = match (inner, text.as_str()) {
        (_, "None") => format!("leave out the default: `{name}: Option<{ty}>`"),
        (Some(inner), _) => format!("write `{name}: {ty} = {inner}`"),
        (None, _) => format!("write `{name}: {ty} = …`, or leave out the default"),
    };
    let message = format!("`{name}` has a default, and so is never `None`");
    report.error(Code::Malformed, default.span(), message, help);
}

/// Refuses a default that reads an input. Another value, which is never used, then takes its place.
fn refuse_reads(parameter: &mut Parameter, inputs: &HashSet<String>, report: &mut Report) {
    let Some(default) = &parameter.default else {
        return;
    };
    let Some(read) = first_value(default.to_token_stream(), inputs) else {
        return;
    };
    let Parameter { name, ty, .. } = &*parameter;
    let message = format!("the default of `{name}` cannot read the input `{read}`");
    let help = format!(
        "write `{name}: Option<{}>`, and let the first node that reads it choose",
        type_text(ty)
    );
    report.error(Code::Malformed, read.span(), message, help);
    let missing = quote!(::core::option::Option::None.expect("a default without mistakes"));
    parameter.default = syn::parse2(missing).ok();
}

/// The first word in an expression that is the value of one of these names: not a field, a function
/// or a part of a path. `None` if the expression has blocks or closures, which may define such
/// names. An argument of one word may be a function, and the use of a macro's words is unknown.
fn first_value(expression: TokenStream, names: &HashSet<String>) -> Option<Ident> {
    value_in(expression, names, false)
}

fn value_in(
    expression: TokenStream,
    names: &HashSet<String>,
    are_arguments: bool,
) -> Option<Ident> {
    let tokens: Vec<TokenTree> = expression.into_iter().collect();
    let mark = |at: Option<usize>| match at.and_then(|at| tokens.get(at)) {
        Some(TokenTree::Punct(mark)) => Some(mark.as_char()),
        _ => None,
    };
    let is_scope = |token: &TokenTree| match token {
        TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
        TokenTree::Punct(mark) => mark.as_char() == '|',
        _ => false,
    };
    if tokens.iter().any(is_scope) {
        return None;
    }
    tokens.iter().enumerate().find_map(|(at, token)| {
        let (before, after) = (mark(at.checked_sub(1)), mark(Some(at + 1)));
        match token {
            TokenTree::Group(_) if before == Some('!') => None,
            TokenTree::Group(group) => value_in(group.stream(), names, true),
            TokenTree::Ident(word) if names.contains(&word.to_string()) => {
                let is_called = matches!(
                    tokens.get(at + 1),
                    Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Parenthesis
                );
                let is_part =
                    matches!(before, Some('.' | ':' | '\'')) || matches!(after, Some(':' | '!'));
                let is_first = at == 0 || before == Some(',');
                let is_last = at + 1 == tokens.len() || after == Some(',');
                let is_argument = are_arguments && is_first && is_last;
                (!is_called && !is_part && !is_argument).then(|| word.clone())
            }
            _ => None,
        }
    })
}

/// Refuses the default of an output.
fn refuse_default(output: &mut Parameter, report: &mut Report) {
    let Some(default) = output.default.take() else {
        return;
    };
    let Parameter { name, ty, .. } = &*output;
    let message = format!("`{name}` is an output, which has no default: nodes write it");
    let help = format!(
        "write `{name}: Option<{}>` if it may be missing",
        type_text(ty)
    );
    report.error(Code::Malformed, default.span(), message, help);
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
