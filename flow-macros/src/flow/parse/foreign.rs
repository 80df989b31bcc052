//! Spellings of Rust and of other workflow libraries, each with what is written in a flow instead.

use proc_macro2::{Literal, Span, TokenTree};
use syn::ext::IdentExt as _;
use syn::parse::ParseStream;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned as _;
use syn::{Attribute, Ident, Lit, LitStr, Meta, Path, Token, bracketed, parenthesized, token};

use crate::flow::syntax::{FlowSyntax, StepSyntax};
use crate::names::{path_text, snake_case, type_of};
use crate::report::Report;

/// Words of Rust that begin a statement with a block.
const BLOCKS: [&str; 9] = [
    "if", "match", "for", "while", "loop", "fn", "struct", "enum", "impl",
];

/// Whether a statement that begins with this word ends with its block, as Rust's own do.
pub(super) fn ends_with_a_block(word: &str) -> bool {
    BLOCKS.contains(&word)
}

/// Words before the flow's name, as in `struct Name(…)`. They are reported and read over.
pub(super) fn before_the_name(input: ParseStream<'_>, report: &mut Report) -> syn::Result<()> {
    let mut words: Vec<Ident> = Vec::new();
    while input.peek(Ident::peek_any) && input.peek2(Ident::peek_any) {
        words.push(input.call(Ident::parse_any)?);
    }
    if let Some(first) = words.first() {
        let name: Ident = input.fork().call(Ident::parse_any)?;
        let words: Vec<String> = words.iter().map(Ident::to_string).collect();
        let words = words.join(" ");
        let text =
            format!("a flow begins with its name, without `{words}`: `{name}(key: Type) {{ … }}`");
        report.text(first.span(), text);
    }
    Ok(())
}

/// Reads over the `->` before the outputs, or another arrow, which is reported. Returns false if
/// there is none.
pub(super) fn before_the_outputs(input: ParseStream<'_>, report: &mut Report) -> syn::Result<bool> {
    if input.peek(Token![=>]) {
        report.text(input.span(), "the outputs come after `->`");
        return input.parse::<Token![=>]>().map(|_| true);
    }
    if input.peek(token::Paren) && input.peek2(token::Brace) {
        report.text(input.span(), "the outputs come after `->`");
        return Ok(true);
    }
    Ok(input.parse::<Option<Token![->]>>()?.is_some())
}

/// What follows the body of a flow.
pub(super) fn after_the_body(input: ParseStream<'_>) -> syn::Error {
    if input.peek(Ident::peek_any) && (input.peek2(token::Paren) || input.peek2(Ident::peek_any)) {
        input.error("each flow has a `flow!` of its own")
    } else if input.peek(Token![;]) {
        input.error("a flow ends with its body: remove this `;`")
    } else {
        input.error("nothing can follow the flow's body")
    }
}

/// Attributes of a statement, doc comments among them: nothing in a flow's body takes one. They are
/// reported and read over.
pub(super) fn attributes(input: ParseStream<'_>, report: &mut Report) -> syn::Result<()> {
    if !input.peek2(token::Bracket) {
        return Ok(());
    }
    let mut said = false;
    for attribute in input.call(Attribute::parse_outer)? {
        let is_comment =
            matches!(&attribute.meta, Meta::NameValue(doc) if doc.path.is_ident("doc"));
        let text = if is_comment {
            "a comment between statements begins with `//`: only the flow itself has documentation"
        } else {
            "a statement takes no attributes: those of the flow stand before its name"
        };
        if !said || !is_comment {
            report.text(attribute.span(), text);
        }
        said |= is_comment;
    }
    Ok(())
}

/// A statement of Rust, by the word or the sign that it begins with.
pub(super) fn statement(input: ParseStream<'_>, flow: &mut FlowSyntax) -> syn::Result<()> {
    if input.peek(Token![#]) {
        return Err(input.error("a comment begins with `//`"));
    }
    if input.peek(Token![>>]) {
        return Err(input.error(
            "the `;` before this `>>` ends the statement: remove it, or begin with a step",
        ));
    }
    if input.peek(Token![-]) && !input.peek(Token![->]) {
        let action = input.fork();
        action.parse::<Token![-]>()?;
        let action = match action.parse::<LitStr>() {
            Ok(action) => action.token().to_string(),
            Err(_) => "\"action\"".to_owned(),
        };
        let text = format!("an edge begins with its step: `step - {action} >> next;`");
        return Err(input.error(text));
    }
    let Ok(word) = input.fork().call(Ident::parse_any) else {
        return Ok(());
    };
    if input.peek2(Token![:]) && !input.peek2(Token![::]) {
        let ahead = input.fork();
        ahead.call(Ident::parse_any)?;
        ahead.parse::<Token![:]>()?;
        let node = ahead.call(Path::parse_mod_style);
        let node = node.map_or_else(|_| "path".to_owned(), |path| path_text(&path));
        let text = format!("a node is declared with `node`: `node {word}: {node};`");
        flow.unread.push(word.clone());
        return Err(syn::Error::new(word.span(), text));
    }
    let text = match word.to_string().as_str() {
        "if" | "match" => {
            "a flow chooses by actions: `step - \"action\" >> next;`, or by a condition on its keys: \
             `branch name(key) { condition => \"action\", else => \"action\" }`"
                .to_owned()
        }
        "for" => "a loop over items is a node: `node name: for item in items { step };`".to_owned(),
        "while" | "loop" => "what is done again is an edge that leads back: `step - \"again\" >> earlier_step;`".to_owned(),
        "return" | "break" | "continue" => {
            "a flow goes on where an edge leads, and ends with `step >> end;`".to_owned()
        }
        "let" | "const" | "static" => {
            let (name, node) = bound(input)?;
            flow.unread.extend(name.clone());
            let name = name.map_or_else(|| "name".to_owned(), |name| name.to_string());
            format!("a node is declared with `node`: `node {name}: {node};`")
        }
        "fn" | "async" | "struct" | "enum" | "impl" | "use" => {
            format!("`{word}` stands outside of `flow!`: in a flow are nodes, branches and edges")
        }
        _ => return Ok(()),
    };
    Err(syn::Error::new(word.span(), text))
}

/// The name and the node of `let name = node;`, as far as it has them.
fn bound(input: ParseStream<'_>) -> syn::Result<(Option<Ident>, String)> {
    let ahead = input.fork();
    ahead.call(Ident::parse_any)?;
    ahead.parse::<Option<Token![mut]>>()?;
    let name = ahead.parse().ok();
    let node = (ahead.parse::<Token![=]>())
        .and_then(|_| ahead.call(Path::parse_mod_style))
        .map_or_else(|_| "path".to_owned(), |path| path_text(&path));
    Ok((name, node))
}

/// What follows the name of a declared node, where `:` should.
pub(super) fn instead_of_a_path(name: &Ident, input: ParseStream<'_>) -> syn::Error {
    let ahead = input.fork();
    let value = (ahead.parse::<Token![=]>()).and_then(|_| ahead.call(Path::parse_mod_style));
    let node = match value {
        Ok(value) if ahead.peek(token::Paren) || ahead.peek(token::Brace) => {
            format!("{} = …", type_of(&value))
        }
        Ok(path) => path_text(&path),
        Err(_) => "path".to_owned(),
    };
    let text = format!("expected `:` and what the node is: `node {name}: {node};`");
    input.error(text)
}

/// Refuses a call that makes the value of a node where the path of the node should be.
pub(super) fn value_as_path(name: &Ident, input: ParseStream<'_>) -> syn::Result<()> {
    let ahead = input.fork();
    let Ok(path) = ahead.call(Path::parse_mod_style) else {
        return Ok(());
    };
    if !ahead.peek(token::Paren) {
        return Ok(());
    }
    let (ty, call) = (type_of(&path), path_text(&path));
    let value = format!("a value comes after the type and `=`: `node {name}: {ty} = {call}(…);`");
    let text = if lists_names(&ahead) {
        format!("{value}; what a function or a flow reads is not listed: `node {name}: {call};`")
    } else {
        value
    };
    Err(syn::Error::new(path.span(), text))
}

/// Returns true for parentheses with names between them, which may be those of keys.
fn lists_names(input: ParseStream<'_>) -> bool {
    let Ok(TokenTree::Group(group)) = input.parse::<TokenTree>() else {
        return false;
    };
    let mut tokens = group.stream().into_iter().peekable();
    let is_listed = |token: &TokenTree| match token {
        TokenTree::Ident(_) => true,
        TokenTree::Punct(mark) => mark.as_char() == ',',
        _ => false,
    };
    tokens.peek().is_some() && tokens.all(|token| is_listed(&token))
}

/// What is not a step, where one should be.
pub(super) fn step(input: ParseStream<'_>) -> syn::Error {
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
    } else if input.peek(token::Brace) {
        "a step has no block: steps that run side by side are written `[a, b]`".to_owned()
    } else if let Ok(quoted) = input.fork().parse::<LitStr>() {
        without_quotes(&quoted)
    } else {
        "expected a step: a node, `start`, `end`, `end(\"label\")`, or `[a, b]`".to_owned()
    };
    input.error(text)
}

fn without_quotes(quoted: &LitStr) -> String {
    match syn::parse_str::<Ident>(&quoted.value()) {
        Ok(name) => format!("a step is written without quotes: `{name}`"),
        Err(_) => "a step is the name of a node, without quotes".to_owned(),
    }
}

/// A text after an arrow, which may have been meant as a step, as an action or as the label of an
/// end.
pub(super) fn quoted_step(from: &StepSyntax, input: ParseStream<'_>) -> syn::Error {
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

/// An operator of another language within a condition.
pub(super) fn operator_in_words(input: ParseStream<'_>) -> syn::Result<()> {
    let word = input.fork().parse::<Ident>();
    let sign = match word.as_ref().map(ToString::to_string).as_deref() {
        Ok("and") => "&&",
        Ok("or") => "||",
        Ok("is") => "==",
        _ => return Ok(()),
    };
    Err(input.error(format!(
        "a condition is an expression of Rust: write `{sign}`"
    )))
}

/// A step that is called like a function of another library, or by another spelling of a word of
/// the DSL.
pub(super) fn word(word: &Ident, input: ParseStream<'_>) -> syn::Result<()> {
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
pub(super) fn call(word: &Ident, input: ParseStream<'_>) -> syn::Error {
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

/// What is not an action in quotes, after a condition of a branch.
pub(super) fn action_of_case(branch: &Ident, input: ParseStream<'_>) -> syn::Error {
    match input.fork().call(Path::parse_mod_style) {
        Ok(step) => {
            let step = path_text(&step);
            let text = format!(
                "a condition leads to an action in quotes, such as `=> \"done\"`, and an edge says where that goes: \
                 `{branch} - \"done\" >> {step};`"
            );
            input.error(text)
        }
        Err(_) => input.error("expected an action in quotes"),
    }
}

/// What is not an action in quotes, after `-`.
pub(super) fn action(from: &StepSyntax, input: ParseStream<'_>) -> syn::Error {
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
        // Of more than one letter: rustc has reported it, and does not say what is right here.
        _ => match input
            .fork()
            .parse::<Literal>()
            .map(|literal| literal.to_string())
        {
            Ok(text) if text.starts_with('\'') => {
                let action = text.trim_matches('\'');
                input.error(format!(
                    "an action is written in double quotes: `- \"{action}\"`"
                ))
            }
            _ => input.error("expected an action in quotes: `- \"action\" >>`"),
        },
    }
}

/// An arrow with two dashes.
pub(super) fn arrow(from: &StepSyntax, span: Span) -> syn::Error {
    let text = format!("an edge is written with `>>`: `{} >> next;`", shown(from));
    syn::Error::new(span, text)
}

/// What follows a step, or its action, where `>>` should.
pub(super) fn instead_of_an_arrow(
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
        let text = match from {
            StepSyntax::End(..) => format!("an end's label is in parentheses: `end(\"{member}\")`"),
            _ => format!("an action is written `{name} - \"{member}\" >> next`"),
        };
        return Err(input.error(text));
    }
    Ok(())
}

/// A statement that begins with a step and has no arrow after it.
pub(super) fn without_an_arrow(from: &StepSyntax, input: ParseStream<'_>) -> syn::Error {
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
    let ahead = input.fork();
    if ahead.parse::<Token![.]>().is_ok() {
        let member = ahead.call(Ident::parse_any).ok()?;
        return Some(snake_case(&member.to_string()));
    }
    let index = |input: ParseStream<'_>| {
        let content;
        bracketed!(content in input);
        content.parse::<LitStr>()
    };
    index(&ahead).ok().map(|action| action.value())
}

/// A step as in a flow's text.
fn shown(step: &StepSyntax) -> String {
    match step {
        StepSyntax::Start(_) => "start".to_owned(),
        StepSyntax::Node(path) => path_text(path),
        StepSyntax::End(..) | StepSyntax::Wait(_) | StepSyntax::Fork(_) => "step".to_owned(),
    }
}
