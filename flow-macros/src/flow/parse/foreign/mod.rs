//! Spellings of Rust and of other workflow libraries, each with the equivalent in a flow.

mod edges;
mod race;
mod undo;

use proc_macro2::TokenTree;
use syn::ext::IdentExt as _;
use syn::parse::ParseStream;
use syn::spanned::Spanned as _;
use syn::{Attribute, Ident, LitStr, Meta, Path, Token, token};

use crate::configured::is_condition;
use crate::flow::syntax::FlowSyntax;
use crate::names::{RESERVED, is_name, path_text, type_of};
use crate::report::Report;

pub(super) use edges::{
    action, action_behind, arrow, call, in_single_quotes, instead_of_an_arrow, quoted_step, step,
    without_an_arrow, word,
};
pub(super) use race::{
    action_of_branch, behind_a_branch, instead_of_a_branch, is_mapping, race_in_an_edge,
};
pub(super) use undo::{
    behind_an_undo_node, called_word, instead_of_an_undo_node, second_mention,
    without_action_of_undo, word_as_a_node,
};

/// Words of Rust that begin a statement with a block.
const BLOCKS: [&str; 9] = [
    "if", "match", "for", "while", "loop", "fn", "struct", "enum", "impl",
];

/// Returns true if a statement that begins with this word ends with its block, as in Rust.
pub(super) fn ends_with_a_block(word: &str) -> bool {
    BLOCKS.contains(&word)
}

/// Words before the flow's name, as in `struct Name(…)`. They are reported and skipped.
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

/// Skips the `->` before the outputs, or reports another arrow. Returns false if there is none.
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

/// The error for tokens after the body of a flow.
pub(super) fn after_the_body(input: ParseStream<'_>) -> syn::Error {
    if input.peek(Ident::peek_any) && (input.peek2(token::Paren) || input.peek2(Ident::peek_any)) {
        input.error("each flow has a `flow!` of its own")
    } else if input.peek(Token![;]) {
        input.error("a flow ends with its body: remove this `;`")
    } else {
        input.error("nothing can follow the flow's body")
    }
}

/// Attributes and doc comments of a statement or of a part of one, which a flow's body does not
/// allow. They are reported and skipped.
pub(super) fn attributes(input: ParseStream<'_>, report: &mut Report) -> syn::Result<()> {
    if !is_attribute(input) {
        return Ok(());
    }
    let mut said = false;
    for attribute in input.call(Attribute::parse_outer)? {
        let is_comment = is_comment(&attribute);
        if !said || !is_comment {
            report.push(unwanted(&attribute));
        }
        said |= is_comment;
    }
    Ok(())
}

/// Refuses an attribute where the statement cannot be read further.
pub(super) fn refuse_attribute(input: ParseStream<'_>) -> syn::Result<()> {
    if !is_attribute(input) {
        return Ok(());
    }
    match input.call(Attribute::parse_outer)?.first() {
        Some(attribute) => Err(unwanted(attribute)),
        None => Ok(()),
    }
}

fn is_attribute(input: ParseStream<'_>) -> bool {
    input.peek(Token![#]) && input.peek2(token::Bracket)
}

fn is_comment(attribute: &Attribute) -> bool {
    matches!(&attribute.meta, Meta::NameValue(doc) if doc.path.is_ident("doc"))
}

fn unwanted(attribute: &Attribute) -> syn::Error {
    let text = if is_comment(attribute) {
        "a comment between statements begins with `//`: only the flow itself has documentation"
    } else if is_condition(attribute) {
        "a part of a flow is there in every configuration: write a flow for each, with `#[cfg(…)]` before each `flow!`"
    } else {
        "a statement takes no attributes: those of the flow stand before its name"
    };
    syn::Error::new(attribute.span(), text)
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
    let is_reserved = RESERVED.iter().any(|reserved| word == reserved);
    if input.peek2(Token![:]) && !input.peek2(Token![::]) && !is_reserved {
        let ahead = input.fork();
        ahead.call(Ident::parse_any)?;
        ahead.parse::<Token![:]>()?;
        let node = ahead.call(Path::parse_mod_style);
        let node = node.map_or_else(|_| "path".to_owned(), |path| path_text(&path));
        let name = word.to_string();
        let name = if is_name(&name) { &name } else { "name" };
        let text = format!("a node is declared with `node`: `node {name}: {node};`");
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

/// The error for tokens after the name of a declared node, in place of `:`.
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

/// Refuses a call that creates the value of a node in place of the node's path.
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

/// The error for something that is not an action in quotes, after a condition of a branch.
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

/// Refuses settings behind the cases of a branch.
pub(super) fn behind_the_cases(input: ParseStream<'_>) -> syn::Result<()> {
    let ahead = input.fork();
    let is_with = ahead.parse::<Ident>().is_ok_and(|word| word == "with");
    if is_with && ahead.peek(Ident) {
        let text = "a branch only decides, so it has no settings: give them to a node that works";
        return Err(input.error(text));
    }
    Ok(())
}
