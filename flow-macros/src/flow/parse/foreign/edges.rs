//! Spellings of steps, actions and arrows.

use proc_macro2::{Literal, Span, TokenStream, TokenTree};
use syn::ext::IdentExt as _;
use syn::parse::discouraged::Speculative as _;
use syn::parse::{ParseStream, Parser as _};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned as _;
use syn::{Ident, Lit, LitStr, Path, Token, bracketed, parenthesized, token};

use crate::flow::syntax::{EdgeSyntax, StepSyntax};
use crate::names::{path_text, snake_case};

/// The error for something that is not a step, in place of one.
pub(in crate::flow::parse) fn step(input: ParseStream<'_>) -> syn::Error {
    let text = if input.peek(Token![|])
        || input.peek(Token![||])
        || input.peek(Token![async])
        || input.peek(Token![move])
    {
        "a closure cannot be a step: write a function with `#[node]`, and its name here".to_owned()
    } else if input.peek(Token![for]) {
        let error = input.error(
            "a loop over items is declared, and the edge has its name: `node name: for item in items { step };`",
        );
        // Its block does not end the statement.
        while !input.is_empty() && !input.peek(Token![;]) {
            if input.parse::<TokenTree>().is_err() {
                break;
            }
        }
        return error;
    } else if input.peek(token::Paren) {
        "steps that run side by side are written `[a, b]`".to_owned()
    } else if let Some(route) = routes(input) {
        route
    } else if input.peek(token::Brace) {
        "a step has no block: steps that run side by side are written `[a, b]`".to_owned()
    } else if let Ok(quoted) = input.fork().parse::<LitStr>() {
        without_quotes(&quoted)
    } else {
        "expected a step: a node, `start`, `end`, `end(\"label\")`, or `[a, b]`".to_owned()
    };
    input.error(text)
}

/// `{ "approved": pay, "rejected": end }` in place of a step.
fn routes(input: ParseStream<'_>) -> Option<String> {
    let Ok(TokenTree::Group(block)) = input.fork().parse::<TokenTree>() else {
        return None;
    };
    let first = |input: ParseStream<'_>| {
        let action: LitStr = input.parse()?;
        let is_route = input.parse::<Option<Token![:]>>()?.is_some()
            || input.parse::<Option<Token![=>]>>()?.is_some();
        let next = input
            .call(Path::parse_mod_style)
            .map(|path| path_text(&path));
        input.parse::<TokenStream>()?;
        Ok((is_route, action, next))
    };
    match first.parse2(block.stream()) {
        Ok((true, action, next)) => Some(format!(
            "each action has an edge of its own: `step - {} >> {};`",
            action.token(),
            next.unwrap_or_else(|_| "next".to_owned())
        )),
        _ => None,
    }
}

fn without_quotes(quoted: &LitStr) -> String {
    match syn::parse_str::<Ident>(&quoted.value()) {
        Ok(name) => format!("a step is written without quotes: `{name}`"),
        Err(_) => "a step is the name of a node, without quotes".to_owned(),
    }
}

/// A text after an arrow, which may have been meant as a step, an action or the label of an end.
pub(in crate::flow::parse) fn quoted_step(from: &StepSyntax, input: ParseStream<'_>) -> syn::Error {
    let quoted = match input.fork().parse::<LitStr>() {
        Ok(quoted) => quoted,
        Err(error) => return error,
    };
    let (without_quotes, label) = (without_quotes(&quoted), quoted.token());
    let text = match from {
        _ if !input.peek2(Token![>>]) => {
            format!("{without_quotes}; the label of an end is written `end({label})`")
        }
        StepSyntax::Node(_) => {
            let action = format!("{} - {label} >> next", shown(from));
            format!("{without_quotes}; an action comes before the arrow: `{action}`")
        }
        _ => without_quotes,
    };
    input.error(text)
}

/// A step named like a function of another library, or another spelling of a word of the DSL.
pub(in crate::flow::parse) fn word(word: &Ident, input: ParseStream<'_>) -> syn::Result<()> {
    let name = word.to_string();
    let text = match name.as_str() {
        "End" | "END" | "Start" | "START" => {
            let lower = name.to_lowercase();
            format!(
                "did you mean `{lower}`? A node type `{name}` takes another name here: `node name: {name};`"
            )
        }
        "None" => "where nothing follows, write `end`".to_owned(),
        "sleep" | "delay" if input.peek(token::Paren) => {
            let content = input.fork();
            let length = match content.parse::<TokenTree>()? {
                TokenTree::Group(group) => group.stream().to_string().replace(' ', ""),
                _ => String::new(),
            };
            if length.starts_with(|digit: char| digit.is_ascii_digit()) {
                format!("a pause is written `wait({length})`")
            } else {
                "a pause is written `wait(5s)`".to_owned()
            }
        }
        _ => return Ok(()),
    };
    Err(syn::Error::new(word.span(), text))
}

/// A step with parentheses: a call of another library, or one of a function.
pub(in crate::flow::parse) fn call(word: &Ident, input: ParseStream<'_>) -> syn::Error {
    let names = |input: ParseStream<'_>| {
        let content;
        parenthesized!(content in input);
        let names = Punctuated::<TokenTree, Token![,]>::parse_terminated(&content)?;
        Ok(names
            .iter()
            .map(|name| name.to_string().replace('"', ""))
            .collect::<Vec<_>>())
    };
    let text = match names(&input.fork()).as_deref() {
        Ok([from, to]) if word.to_string().contains("edge") => {
            format!("an edge is written `{from} >> {to};`")
        }
        _ => "a node is wired by its name alone: what it reads comes from the flow".to_owned(),
    };
    syn::Error::new(word.span(), text)
}

/// The error after `-` for something that is not an action in quotes.
pub(in crate::flow::parse) fn action(from: &StepSyntax, input: ParseStream<'_>) -> syn::Error {
    if input.peek(Token![_]) {
        let from = shown(from);
        let text = format!("each action has an edge of its own: `{from} - \"action\" >> next;`");
        return input.error(text);
    }
    if let Ok(path) = input.fork().call(Path::parse_mod_style)
        && let Some(last) = path.segments.last()
    {
        // A variant is the action of its name in snake_case.
        let action = snake_case(&last.ident.to_string());
        let text = format!("an action is written in quotes: `- \"{action}\"`");
        return syn::Error::new(path.span(), text);
    }
    match input.fork().parse::<Lit>() {
        Ok(Lit::Char(letter)) => {
            let text = format!(
                "an action is written in double quotes: `- \"{}\"`",
                letter.value()
            );
            syn::Error::new(letter.span(), text)
        }
        _ => input.error("expected an action in quotes: `- \"action\" >>`"),
    }
}

/// An action of several letters in single quotes, read as if in double ones: rustc has reported it,
/// with the fix.
pub(in crate::flow::parse) fn in_single_quotes(input: ParseStream<'_>) -> Option<LitStr> {
    let ahead = input.fork();
    let literal: Literal = ahead.parse().ok()?;
    let text = literal.to_string();
    let action = text.strip_prefix('\'')?.strip_suffix('\'')?;
    if action.chars().count() < 2 || action.starts_with('\\') {
        return None;
    }
    input.advance_to(&ahead);
    Some(LitStr::new(action, literal.span()))
}

/// An arrow with two dashes.
pub(in crate::flow::parse) fn arrow(from: &StepSyntax, span: Span) -> syn::Error {
    let text = format!("an edge is written with `>>`: `{} >> next;`", shown(from));
    syn::Error::new(span, text)
}

/// The error for something after a step, or its action, in place of `>>`.
pub(in crate::flow::parse) fn instead_of_an_arrow(
    from: &StepSyntax,
    action: Option<&LitStr>,
    input: ParseStream<'_>,
) -> syn::Result<()> {
    let name = shown(from);
    if input.peek(Token![#]) {
        return Err(input.error("a comment begins with `//`"));
    }
    if input.peek(Token![<<]) || input.peek(Token![<-]) {
        let ahead = input.fork();
        ahead.parse::<TokenTree>()?;
        ahead.parse::<TokenTree>()?;
        let first = ahead.call(Path::parse_mod_style);
        let first = first.map_or_else(|_| "step".to_owned(), |path| path_text(&path));
        let text = format!("an edge leads from left to right: `{first} >> {name};`");
        return Err(input.error(text));
    }
    let is_pipe = input.peek(Token![|]) && input.peek2(Token![>]);
    if input.peek(Token![->])
        || input.peek(Token![=>])
        || input.peek(Token![>])
        || input.peek(Token![~])
        || is_pipe
    {
        return Err(input.error(match action {
            Some(action) => format!(
                "an edge is written with `>>`: `{name} - {} >> next;`",
                action.token()
            ),
            None => format!("an edge is written with `>>`: `{name} >> next;`"),
        }));
    }
    if let Some(action) = action {
        if !input.peek(Token![|]) && !input.peek(Token![,]) {
            return Ok(());
        }
        let ahead = input.fork();
        ahead.parse::<TokenTree>()?;
        ahead.parse::<Option<Token![-]>>()?;
        let (first, second) = match ahead.parse::<LitStr>() {
            Ok(second) => (action.token().to_string(), second.token().to_string()),
            Err(_) => (action.token().to_string(), "\"other\"".to_owned()),
        };
        let text = format!(
            "each action has an edge of its own: `{name} - {first} >> next; {name} - {second} >> next;`"
        );
        return Err(input.error(text));
    }
    if input.peek(Token![|])
        || input.peek(Token![||])
        || input.peek(Token![&])
        || input.peek(Token![+])
    {
        return Err(input.error("steps that run side by side are written `[a, b]`"));
    }
    if let Some(member) = action_as_a_member(input) {
        let mut text = match from {
            StepSyntax::End(..) => {
                format!("an end's label is in parentheses: `end(\"{member}\")`")
            }
            _ => format!("an action is written `{name} - \"{member}\" >> next`"),
        };
        // In lowercase, it may be a path as well.
        if member_after_a_dot(input).is_some_and(|name| name == member) {
            text.push_str(&format!(", and a node of a module `{name}::{member}`"));
        }
        return Err(input.error(text));
    }
    Ok(())
}

/// An action without an arrow behind it, which may belong to the step before.
pub(in crate::flow::parse) fn action_behind(
    action: &LitStr,
    from: &StepSyntax,
    edge: Option<&EdgeSyntax>,
) -> syn::Error {
    let mut text = "expected `>>` and a step after the action".to_owned();
    if let Some(EdgeSyntax {
        from: before @ StepSyntax::Node(_),
        action: None,
        ..
    }) = edge
    {
        let edge = format!("{} - {} >> {}", shown(before), action.token(), shown(from));
        text.push_str(&format!("; an action stands behind its own step: `{edge}`"));
    }
    syn::Error::new(action.span(), text)
}

/// A statement that begins with a step and has no arrow after it.
pub(in crate::flow::parse) fn without_an_arrow(
    from: &StepSyntax,
    input: ParseStream<'_>,
) -> syn::Error {
    match (from, input.fork().call(Path::parse_mod_style)) {
        (StepSyntax::Node(_), Ok(next)) => {
            let (name, next) = (shown(from), path_text(&next));
            input.error(format!(
                "expected `{name} >> {next}` or `{name} - \"action\" >> {next}`"
            ))
        }
        _ => syn::Error::new(
            from.span(),
            "this step leads nowhere: write `step >> next;` or `step - \"action\" >> next;`",
        ),
    }
}

/// The `approved` of `review.approved` and `review["approved"]`.
fn action_as_a_member(input: ParseStream<'_>) -> Option<String> {
    if let Some(member) = member_after_a_dot(input) {
        return Some(snake_case(&member.to_string()));
    }
    let index = |input: ParseStream<'_>| {
        let content;
        bracketed!(content in input);
        content.parse::<LitStr>()
    };
    index(&input.fork()).ok().map(|action| action.value())
}

/// The `approved` of `review.approved`.
fn member_after_a_dot(input: ParseStream<'_>) -> Option<Ident> {
    let ahead = input.fork();
    ahead.parse::<Token![.]>().ok()?;
    ahead.call(Ident::parse_any).ok()
}

/// A step as in a flow's text.
fn shown(step: &StepSyntax) -> String {
    match step {
        StepSyntax::Start(_) => "start".to_owned(),
        StepSyntax::Node(path) => path_text(path),
        StepSyntax::Undo(undo) => undo.word().to_owned(),
        StepSyntax::End(..) | StepSyntax::Wait(_) | StepSyntax::Fork(_) => "step".to_owned(),
    }
}
