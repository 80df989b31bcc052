//! Edges: chains of steps, with the actions and the forks between them.
//!
//! Most of this finds out what was probably meant by something else in place of `>>`.

use std::rc::Rc;

use proc_macro2::TokenStream;
use syn::parse::ParseStream;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned as _;
use syn::{Ident, LitStr, Path, Token, braced, bracketed, parenthesized, token};

use crate::flow::syntax::{
    EdgeMappingSyntax, EdgeSyntax, ForkSyntax, StepSyntax, UndoSyntax, WaitIndex, WaitSyntax,
};
use crate::names::composed;
use crate::report::Report;
use crate::settings::parse_duration;

use super::declarations::{refuse_nameless, refuse_value};
use super::foreign;

/// `a - "x" >> b >> c`: an edge for each `>>`.
pub(super) fn chain(
    input: ParseStream<'_>,
    waits: &mut usize,
    report: &mut Report,
) -> syn::Result<Vec<EdgeSyntax>> {
    let mut edges = Vec::new();
    let mut from = step(input, waits, report)?;
    foreign::race_in_an_edge(&from, input)?;
    if let StepSyntax::Undo(undo) = &from {
        return Err(foreign::second_mention(undo));
    }
    if input.peek(token::Brace) {
        let text = "a mapping belongs to an edge, and comes after the node that the edge leads to: \
                    `step >> next { key <- other }`";
        return Err(input.error(text));
    }
    loop {
        let action = action(&from, input)?;
        let action = foreign::without_action_of_undo(&from, action, report);
        if !input.peek(Token![>>]) {
            foreign::instead_of_an_arrow(&from, action.as_ref(), input)?;
            return match action {
                None if input.peek(Token![<]) => {
                    let text = "generic arguments belong in a declaration, `node name: Type<…>;`, whose name the edge \
                                then takes";
                    Err(input.error(text))
                }
                Some(action) => Err(foreign::action_behind(&action, &from, edges.last())),
                None if input.peek(LitStr) => {
                    Err(input.error("expected `-` before the action: `step - \"action\" >> next`"))
                }
                None if edges.is_empty() => Err(foreign::without_an_arrow(&from, input)),
                None => Ok(edges),
            };
        }
        let arrow = input.parse::<Token![>>]>()?.span();
        if input.is_empty() || input.peek(Token![;]) {
            report.text(
                arrow,
                "expected a step after `>>`: a node, `end`, or `end(\"label\")`",
            );
            return Ok(edges);
        }
        if input.peek(LitStr) {
            return Err(foreign::quoted_step(&from, input));
        }
        let to = step(input, waits, report)?;
        foreign::race_in_an_edge(&to, input)?;
        edges.push(EdgeSyntax {
            from,
            action,
            arrow,
            to: to.clone(),
            mappings: if input.peek(token::Brace) {
                mappings(input)?
            } else {
                Vec::new()
            },
        });
        from = to;
    }
}

/// `{ key <- source }`
fn mappings(input: ParseStream<'_>) -> syn::Result<Vec<EdgeMappingSyntax>> {
    let content;
    braced!(content in input);
    let one = |input: ParseStream<'_>| {
        foreign::refuse_attribute(input)?;
        let key: Ident = input.parse()?;
        refuse_value(input)?;
        if input.peek(Token![->]) {
            let arrow: Token![->] = input.parse()?;
            let read = input
                .parse::<Ident>()
                .map_or("key".to_owned(), |read| read.to_string());
            let text = format!(
                "on an edge, the key that is read next comes first: `{read} <- {key}`; to write `{key}` under another key, \
                         declare the node: `node name: path {{ {key} -> {read} }};`"
            );
            return Err(syn::Error::new(arrow.span(), text));
        }
        input.parse::<Token![<-]>().map_err(|error| {
            let text = format!("expected `<-` and the key whose value `{key}` gets");
            syn::Error::new(error.span(), text)
        })?;
        let source = super::declarations::key(input)?;
        Ok(EdgeMappingSyntax { key, source })
    };
    let mappings = Punctuated::<_, Token![,]>::parse_terminated_with(&content, one)?;
    Ok(mappings.into_iter().collect())
}

/// `- "action"`
fn action(from: &StepSyntax, input: ParseStream<'_>) -> syn::Result<Option<LitStr>> {
    if !input.peek(Token![-]) || input.peek(Token![->]) {
        return Ok(None);
    }
    let dash: Token![-] = input.parse()?;
    if input.peek(Token![-]) || input.peek(Token![->]) {
        return Err(foreign::arrow(from, dash.span()));
    }
    match input.fork().parse::<LitStr>() {
        Ok(_) => input.parse().map(composed).map(Some),
        Err(_) => match foreign::in_single_quotes(input) {
            Some(action) => Ok(Some(action)),
            None => Err(foreign::action(from, input)),
        },
    }
}

/// Parses a step. `waits` is the number of earlier waits.
fn step(input: ParseStream<'_>, waits: &mut usize, report: &mut Report) -> syn::Result<StepSyntax> {
    foreign::attributes(input, report)?;
    if input.peek(token::Bracket) {
        return Ok(StepSyntax::Fork(fork(input, waits, report)?));
    }
    let path = input
        .call(Path::parse_mod_style)
        .map_err(|_| foreign::step(input))?;
    refuse_nameless(&path)?;
    let Some(word) = path.get_ident() else {
        return Ok(StepSyntax::Node(path));
    };
    foreign::word(word, input)?;
    let span = word.span();
    match word.to_string().as_str() {
        "start" => Ok(StepSyntax::Start(span)),
        "end" if input.peek(token::Paren) => {
            let label = label(input, report)?;
            Ok(StepSyntax::End(span, Some(label)))
        }
        "end" if input.peek(LitStr) => {
            let label: LitStr = input.parse()?;
            let text = format!("an end's label is in parentheses: `end({})`", label.token());
            Err(syn::Error::new(label.span(), text))
        }
        "end" => Ok(StepSyntax::End(span, None)),
        "wait" if input.peek(token::Paren) => {
            let content;
            let paren = parenthesized!(content in input);
            if let Ok(quoted) = content.fork().parse::<LitStr>() {
                let help = format!("`wait({})`", quoted.value());
                let text = format!("the length of a pause is written without quotes: {help}");
                return Err(syn::Error::new(quoted.span(), text));
            }
            let text = content.parse::<TokenStream>()?.to_string().replace(' ', "");
            let duration = parse_duration(&text, paren.span.join(), report).unwrap_or_default();
            let index = WaitIndex(*waits);
            *waits += 1;
            Ok(StepSyntax::Wait(WaitSyntax {
                index,
                span,
                text,
                duration,
            }))
        }
        "undo" | "commit" if input.peek(token::Paren) => Err(foreign::called_word(word)),
        text @ ("undo" | "commit") => {
            let index = WaitIndex(*waits);
            *waits += 1;
            Ok(StepSyntax::Undo(UndoSyntax {
                index,
                span,
                commits: text == "commit",
            }))
        }
        _ if input.peek(token::Paren) => Err(foreign::call(word, input)),
        _ => Ok(StepSyntax::Node(path)),
    }
}

/// `("label")`
fn label(input: ParseStream<'_>, report: &mut Report) -> syn::Result<LitStr> {
    let content;
    parenthesized!(content in input);
    let label: LitStr = content.parse().map_err(|error| {
        let text = "expected the end's label in quotes: `end(\"label\")`";
        syn::Error::new(error.span(), text)
    })?;
    if !content.is_empty() {
        return Err(content.error("an end has one label"));
    }
    crate::settings::text(&label, "label", report);
    Ok(composed(label))
}

/// `a >> b`: a branch of a fork or a race.
pub(super) fn branch_of(
    input: ParseStream<'_>,
    waits: &mut usize,
    report: &mut Report,
) -> syn::Result<Vec<StepSyntax>> {
    let mut chain = vec![step(input, waits, report)?];
    while input.peek(Token![>>]) {
        input.parse::<Token![>>]>()?;
        chain.push(step(input, waits, report)?);
    }
    if input.peek(token::Brace) {
        let text = "no other edge leads to a node in a branch, so the node has the mapping: declare it, \
                    `node name: path { key <- other };`";
        return Err(input.error(text));
    }
    Ok(chain)
}

/// `[a >> b, c]`
pub(super) fn fork(
    input: ParseStream<'_>,
    waits: &mut usize,
    report: &mut Report,
) -> syn::Result<Rc<ForkSyntax>> {
    let content;
    let bracket = bracketed!(content in input);
    let span = bracket.span.join();
    if content.is_empty() {
        return Err(syn::Error::new(
            span,
            "a fork without branches: write `[a, b]`",
        ));
    }
    let mut branches = Vec::new();
    while !content.is_empty() {
        let chain = branch_of(&content, waits, report)?;
        if content.peek(Token![-]) {
            let text =
                "an action cannot lead out of a fork: its branches are chains, `[a >> b, c]`";
            return Err(content.error(text));
        }
        branches.push(chain);
        if !content.is_empty() {
            content.parse::<Token![,]>().map_err(|error| {
                syn::Error::new(
                    error.span(),
                    "expected `,` or `>>`: a fork's branches are chains, `[a >> b, c]`",
                )
            })?;
        }
    }
    Ok(Rc::new(ForkSyntax { span, branches }))
}
