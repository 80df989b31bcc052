//! Spellings of races.

use syn::ext::IdentExt as _;
use syn::parse::ParseStream;
use syn::{Ident, LitStr, Path, Token, braced, token};

use crate::flow::syntax::StepSyntax;
use crate::names::path_text;

/// Refuses `first { … }` as the step of an edge.
pub(in crate::flow::parse) fn race_in_an_edge(
    step: &StepSyntax,
    input: ParseStream<'_>,
) -> syn::Result<()> {
    let is_race = matches!(step, StepSyntax::Node(path) if path.is_ident("first"));
    if !is_race || !input.peek(token::Brace) {
        return Ok(());
    }
    if is_mapping(&input.fork()) {
        return Ok(());
    }
    let text = "a race is declared, and edges have its name: `node outcome: first { … };`";
    Err(syn::Error::new(step.span(), text))
}

/// Returns true for the braces of a mapping. Those of a race do not begin with a name and an arrow.
pub(in crate::flow::parse) fn is_mapping(input: ParseStream<'_>) -> bool {
    let begins = |input: ParseStream<'_>| {
        let content;
        braced!(content in input);
        content.call(Ident::parse_any)?;
        let is_thin = content.peek(Token![->]) && !content.peek3(LitStr);
        Ok(content.peek(Token![<-]) || is_thin)
    };
    begins(input).unwrap_or(false)
}

/// Refuses an action before its branch: `"done" => step`.
pub(in crate::flow::parse) fn instead_of_a_branch(input: ParseStream<'_>) -> syn::Result<()> {
    let ahead = input.fork();
    let Ok(action) = ahead.parse::<LitStr>() else {
        return Ok(());
    };
    if !(ahead.peek(Token![=>]) || ahead.peek(Token![:])) {
        return Ok(());
    }
    ahead.parse::<proc_macro2::TokenTree>()?;
    if ahead.peek(Token![>]) {
        ahead.parse::<Token![>]>()?;
    }
    let step = ahead.call(Path::parse_mod_style);
    let step = step.map_or_else(|_| "step".to_owned(), |path| path_text(&path));
    let text = format!(
        "the branch comes before its action: `{step} => {}`",
        action.token()
    );
    Err(syn::Error::new(action.span(), text))
}

/// Refuses what looks like an edge behind the steps of a branch.
pub(in crate::flow::parse) fn behind_a_branch(
    race: &Ident,
    input: ParseStream<'_>,
) -> syn::Result<()> {
    if input.peek(Token![->]) || input.peek(Token![:]) {
        let text = "the action of a branch comes after `=>`: `step => \"done\"`";
        return Err(input.error(text));
    }
    if input.peek(Token![-]) {
        let text = format!(
            "no edge leads out of a branch: what its last step decides, or `=> \"action\"`, is an action of \
             `{race}`, from which edges lead on: `{race} - \"action\" >> next;`"
        );
        return Err(input.error(text));
    }
    Ok(())
}

/// The error for something that is not an action in quotes, behind a branch of a race.
pub(in crate::flow::parse) fn action_of_branch(race: &Ident, input: ParseStream<'_>) -> syn::Error {
    match input.fork().call(Path::parse_mod_style) {
        Ok(step) => {
            let step = path_text(&step);
            let text = format!(
                "a branch ends with an action in quotes, such as `=> \"done\"`, and an edge says where that \
                 leads: `{race} - \"done\" >> {step};`"
            );
            input.error(text)
        }
        Err(_) => input.error("expected an action in quotes"),
    }
}
