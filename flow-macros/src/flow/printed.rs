//! Expressions as their author would write them. rustc's own way of printing tokens sets spaces
//! where nobody would.

use proc_macro2::{Delimiter, Spacing, TokenStream, TokenTree};

/// The tokens in one line. Literals stay as they are.
pub(super) fn printed(tokens: TokenStream) -> String {
    let mut text = String::new();
    let mut before = Before::Nothing;
    for token in tokens {
        match &token {
            TokenTree::Group(group) => {
                let (open, close) = match group.delimiter() {
                    Delimiter::Parenthesis => ("(", ")"),
                    Delimiter::Bracket => ("[", "]"),
                    Delimiter::Brace => ("{ ", " }"),
                    Delimiter::None => ("", ""),
                };
                let tight = group.delimiter() != Delimiter::Brace;
                if !(before.is_tight() || tight && matches!(before, Before::Operand)) {
                    text.push(' ');
                }
                text.push_str(open);
                text.push_str(&printed(group.stream()));
                text.push_str(close);
                before = Before::Operand;
            }
            TokenTree::Punct(punct) => {
                let letter = punct.as_char();
                let stays = matches!(letter, '.' | ',' | ';' | '?' | ':');
                let is_macro = letter == '!'
                    && matches!(before, Before::Operand)
                    && punct.spacing() == Spacing::Alone;
                let joined = matches!(before, Before::Joint { .. });
                if !(stays || is_macro || joined || before.is_tight()) {
                    text.push(' ');
                }
                text.push(letter);
                let prefix = match before {
                    Before::Operand => false,
                    Before::Joint { prefix } => prefix,
                    _ => true,
                };
                before = match (letter, punct.spacing()) {
                    ('.', _) => Before::Tight,
                    (':', Spacing::Alone) if text.ends_with("::") => Before::Tight,
                    ('!', Spacing::Alone) if is_macro => Before::Tight,
                    (_, Spacing::Joint) => Before::Joint { prefix },
                    ('*' | '&' | '-' | '!' | '|', Spacing::Alone) if prefix => Before::Tight,
                    ('?', _) => Before::Operand,
                    _ => Before::Operator,
                };
            }
            TokenTree::Ident(word) => {
                if !before.is_tight() {
                    text.push(' ');
                }
                text.push_str(&word.to_string());
                let keyword = [
                    "as", "else", "if", "in", "let", "match", "move", "mut", "return",
                ];
                before = match keyword.iter().any(|keyword| word == keyword) {
                    true => Before::Operator,
                    false => Before::Operand,
                };
            }
            TokenTree::Literal(literal) => {
                if !before.is_tight() {
                    text.push(' ');
                }
                text.push_str(&literal.to_string());
                before = Before::Operand;
            }
        }
    }
    text
}

/// What stands before a token.
#[derive(Clone, Copy)]
enum Before {
    /// The beginning.
    Nothing,
    /// A value, after which a sign is an operator and a parenthesis a call.
    Operand,
    /// An operator or a keyword.
    Operator,
    /// Something that nothing comes between: a dot, a sign before a value.
    Tight,
    /// The first half of an operator of several letters.
    Joint {
        /// It stands before a value, not between two.
        prefix: bool,
    },
}

impl Before {
    fn is_tight(self) -> bool {
        matches!(self, Before::Nothing | Before::Tight)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_are_printed_as_they_are_written() {
        for text in [
            "*claim > limit.saturating_sub(1)",
            "!(*limit == 7) && -(*begun as i64) < 7",
            r#"x == "a  b\n   c""#,
            r##"text.as_str() == r#"q"  "x"#"##,
            "matches!(verdict, Verdict::Approved { .. })",
            "!names.is_empty() || names[0] != *name",
            "std::cmp::max(*a, *b) >= 3",
            "found?.len() > 2",
        ] {
            let tokens: syn::Expr = syn::parse_str(text).unwrap();
            assert_eq!(printed(quote::quote!(#tokens)), text);
        }
    }
}
