//! Spellings of undo nodes, and of the steps `undo` and `commit`.

use flow_spec::{Code, DEFAULT_ACTION, ERROR_ACTION};
use syn::parse::ParseStream;
use syn::{Ident, LitStr, Path, Token, token};

use crate::flow::syntax::{StepSyntax, UndoSyntax};
use crate::names::{RESERVED, path_text, plain, snake_case};
use crate::report::Report;

/// The error for something else than a path after `undo =`.
pub(in crate::flow::parse) fn instead_of_an_undo_node(input: ParseStream<'_>) -> syn::Result<()> {
    if let Ok(quoted) = input.fork().parse::<LitStr>()
        && let Ok(name) = quoted.parse_with(Path::parse_mod_style)
    {
        let text = format!(
            "a node is written without quotes: `undo = {}`",
            path_text(&name)
        );
        return Err(syn::Error::new(quoted.span(), text));
    }
    Ok(())
}

/// The error for tokens after the path of an undo node, which belong where that is declared.
pub(in crate::flow::parse) fn behind_an_undo_node(
    path: &Path,
    input: ParseStream<'_>,
) -> syn::Result<()> {
    let Some(last) = path.segments.last() else {
        return Ok(());
    };
    let (name, path) = (snake_case(&last.ident.to_string()), path_text(path));
    let text = if input.peek(token::Brace) {
        format!(
            "the mapping of an undo node belongs where it is declared: `node {name}: {path} {{ … }};`"
        )
    } else if input.peek(token::Paren) {
        format!(
            "an undo node is named, not called: `undo = {path}`; what it reads comes from the flow"
        )
    } else if input.peek(Token![<]) {
        format!(
            "generic arguments belong in a declaration, `node {name}: {path}<…>;`, whose name `undo` then takes"
        )
    } else if input.peek(Ident) && input.fork().parse::<Ident>()? == "with" {
        format!(
            "the settings of an undo node belong where it is declared: `node {name}: {path} with …;`"
        )
    } else {
        return Ok(());
    };
    Err(input.error(text))
}

/// Refuses a word of the language that stands for a node.
pub(in crate::flow::parse) fn word_as_a_node(path: &Path) -> syn::Result<()> {
    let word = path.get_ident().map(|word| (plain(word), word.span()));
    let Some((word, span)) = word.filter(|(word, _)| RESERVED.contains(&word.as_str())) else {
        return Ok(());
    };
    let text = match word.as_str() {
        "undo" | "commit" => {
            format!(
                "`{word}` is a step of the language, and stands in an edge: `step >> {word} >> end`"
            )
        }
        _ => format!("`{word}` is a word of the language, and names no node"),
    };
    Err(syn::Error::new(span, text))
}

/// The error for `undo(…)` or `commit(…)` as a step.
pub(in crate::flow::parse) fn called_word(word: &Ident) -> syn::Error {
    let does = if word == "commit" {
        "forgets"
    } else {
        "takes back"
    };
    let text = format!(
        "`{word}` is written without parentheses: it {does} all visits of this run so far, `step >> {word} >> end`"
    );
    syn::Error::new(word.span(), text)
}

/// The error for an edge that begins with `undo` or `commit`: each mention is a step of its own.
pub(in crate::flow::parse) fn second_mention(undo: &UndoSyntax) -> syn::Error {
    let word = undo.word();
    let text = format!(
        "each `{word}` is a step of its own, which an edge leads to: `step >> {word} >> next;`"
    );
    syn::Error::new(undo.span, text)
}

/// Reports an action behind `undo` or `commit`, and drops it: they only lead on.
pub(in crate::flow::parse) fn without_action_of_undo(
    from: &StepSyntax,
    action: Option<LitStr>,
    report: &mut Report,
) -> Option<LitStr> {
    let (StepSyntax::Undo(undo), Some(action)) = (from, &action) else {
        return action;
    };
    if action.value() != DEFAULT_ACTION {
        let word = undo.word();
        let message = format!("`{word}` never takes {}", action.token());
        let help = if undo.commits {
            "write `commit >> next`"
        } else {
            "write `undo >> next`: if an undo node fails for good, the run fails"
        };
        let code = match action.value().as_str() {
            ERROR_ACTION => Code::CannotFail,
            _ => Code::UnknownAction,
        };
        report.error(code, action.span(), message, help);
    }
    None
}
