//! Finds the `flow!` in a source.

use super::lexer::{Kind, Source};

/// The indices of the brackets of each `flow!` of this crate, in the order written.
///
/// A `flow!` in the arguments of another macro is left out, because it may mean anything there, as
/// in the body of a `macro_rules!` or in `quote!`. A `flow!` with a `$`, which is completed
/// elsewhere, is left out too.
pub(super) fn blocks(source: &Source<'_>) -> Vec<(usize, usize)> {
    let mut blocks = Vec::new();
    let mut index = 0;
    while index < source.tokens.len() {
        let Some(open) = brackets_of_macro(source, index) else {
            index += 1;
            continue;
        };
        let close = source.partner(open);
        let mut content = source.tokens[open..close].iter();
        if names_flow(source, index) && !content.any(|token| token.text == "$") {
            blocks.push((open, close));
        }
        index = close + 1;
    }
    blocks
}

/// The opening bracket of the macro that the word with this index calls: `name!(`,
/// `macro_rules! name {`.
pub fn brackets_of_macro(source: &Source<'_>, index: usize) -> Option<usize> {
    let kind = |index: usize| source.tokens.get(index).map(|token| token.kind);
    let is_macro = kind(index) == Some(Kind::Word) && source.tokens.get(index + 1)?.text == "!";
    let open = match kind(index + 2)? {
        Kind::Word => index + 3,
        _ => index + 2,
    };
    (is_macro && kind(open) == Some(Kind::Open)).then_some(open)
}

/// Returns true if the word is `flow`, by itself or at the end of a path into `flow_runtime`.
fn names_flow(source: &Source<'_>, index: usize) -> bool {
    let text = |index: usize| source.tokens[index].text;
    if text(index) != "flow" || source.tokens[index + 2].kind != Kind::Open {
        return false;
    }
    let mut first = index;
    while first >= 2 && text(first - 1) == "::" && source.tokens[first - 2].kind == Kind::Word {
        first -= 2;
    }
    first == index || text(first) == "flow_runtime"
}
