//! What holds for every source and its layout.

use proc_macro2::{TokenStream, TokenTree};

use super::super::{LaidOut, Source, lay_out};

/// Lays out a source and checks what holds for each: what is outside of `flow!` stays, the tokens
/// stay, the comments stay in their order, and a second time changes nothing.
pub(super) fn checked(text: &str) -> LaidOut {
    let laid_out = lay_out(text);
    let again = lay_out(&laid_out.text);
    assert_eq!(again.text, laid_out.text, "a second time changes\n{text}");
    assert_eq!(again.faults.len(), laid_out.faults.len(), "{text}");
    let refused = laid_out
        .faults
        .iter()
        .any(|fault| fault.message.contains("please report"));
    assert!(!refused, "the layout has other tokens than\n{text}");
    assert_eq!(outside(&laid_out.text), outside(text), "outside of\n{text}");
    assert_eq!(
        comments(&laid_out.text),
        comments(text),
        "comments of\n{text}"
    );
    assert_eq!(tokens(&laid_out.text), tokens(text), "tokens of\n{text}");
    laid_out
}

/// The text outside of the brackets of each `flow!`.
fn outside(text: &str) -> Vec<String> {
    let Ok(source) = Source::new(text) else {
        return vec![text.to_owned()];
    };
    let mut from = 0;
    let mut outside = Vec::new();
    for (open, close) in super::super::blocks::blocks(&source) {
        outside.push(text[from..=source.tokens[open].start].to_owned());
        from = source.tokens[close].start;
    }
    outside.push(text[from..].to_owned());
    outside
}

/// The comments, with each line from its first letter on.
fn comments(text: &str) -> Vec<String> {
    let Ok(source) = Source::new(text) else {
        return Vec::new();
    };
    let lines = |text: &str| {
        let lines: Vec<&str> = text.lines().map(str::trim_start).collect();
        lines.join("\n")
    };
    source
        .comments()
        .iter()
        .map(|comment| lines(comment.text))
        .collect()
}

/// The tokens as proc-macro2 reads them, which knows nothing of the lexer here, without commas before
/// closing brackets. `None` if it cannot read them.
fn tokens(text: &str) -> Option<Vec<String>> {
    let mut all = Vec::new();
    flatten(text.parse().ok()?, &mut all);
    Some(all)
}

fn flatten(stream: TokenStream, all: &mut Vec<String>) {
    let mut tokens: Vec<TokenTree> = stream.into_iter().collect();
    // Documentation is compared with the comments.
    while let Some(at) = tokens.windows(2).position(is_documentation) {
        tokens.drain(at..at + 2);
    }
    if tokens.last().is_some_and(|last| last.to_string() == ",") {
        tokens.pop();
    }
    for token in tokens {
        match token {
            TokenTree::Group(group) => {
                all.push(format!("{:?}", group.delimiter()));
                flatten(group.stream(), all);
                all.push("closed".to_owned());
            }
            token => all.push(token.to_string()),
        }
    }
}

fn is_documentation(tokens: &[TokenTree]) -> bool {
    let begins = |text: &str| text.starts_with("[doc =");
    tokens[0].to_string() == "#" && begins(&tokens[1].to_string())
}
