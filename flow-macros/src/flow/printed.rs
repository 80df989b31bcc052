//! Expressions as their author would write them. rustc's own printing of tokens puts spaces where
//! nobody would.

use proc_macro2::{Delimiter, Group, Ident, Punct, Spacing, TokenStream, TokenTree};

/// The tokens in one line. Literals stay unchanged.
pub(crate) fn printed(tokens: TokenStream) -> String {
    let mut line = Line {
        text: String::new(),
        before: Before::Nothing,
    };
    for token in tokens {
        match token {
            TokenTree::Group(group) => line.group(&group),
            TokenTree::Punct(punct) => line.sign(&punct),
            TokenTree::Ident(word) => line.word(&word),
            TokenTree::Literal(literal) => line.value(&literal.to_string()),
        }
    }
    line.text
}

/// The line printed so far.
struct Line {
    text: String,
    before: Before,
}

impl Line {
    fn group(&mut self, group: &Group) {
        let (open, close) = match group.delimiter() {
            Delimiter::Parenthesis => ("(", ")"),
            Delimiter::Bracket => ("[", "]"),
            Delimiter::Brace => ("{ ", " }"),
            Delimiter::None => ("", ""),
        };
        let is_call = group.delimiter() != Delimiter::Brace && self.before == Before::Operand;
        if !(self.before.is_tight() || is_call) {
            self.text.push(' ');
        }
        self.text.push_str(open);
        self.text.push_str(&printed(group.stream()));
        self.text.push_str(close);
        self.before = Before::Operand;
    }

    fn sign(&mut self, punct: &Punct) {
        let (letter, spacing) = (punct.as_char(), punct.spacing());
        let stays = matches!(letter, '.' | ',' | ';' | '?' | ':');
        let is_macro = letter == '!' && self.before == Before::Operand && spacing == Spacing::Alone;
        let joined = matches!(self.before, Before::Joint { .. });
        if !(stays || is_macro || joined || self.before.is_tight()) {
            self.text.push(' ');
        }
        self.text.push(letter);
        let prefix = match self.before {
            Before::Operand => false,
            Before::Joint { prefix } => prefix,
            _ => true,
        };
        self.before = match (letter, spacing) {
            ('.', _) => Before::Tight,
            (':', Spacing::Alone) if self.text.ends_with("::") => Before::Tight,
            ('!', Spacing::Alone) if is_macro => Before::Tight,
            (_, Spacing::Joint) => Before::Joint { prefix },
            ('*' | '&' | '-' | '!' | '|', Spacing::Alone) if prefix => Before::Tight,
            ('?', _) => Before::Operand,
            _ => Before::Operator,
        };
    }

    fn word(&mut self, word: &Ident) {
        self.value(&word.to_string());
        let keywords = [
            "as", "else", "if", "in", "let", "match", "move", "mut", "return",
        ];
        if keywords.iter().any(|keyword| word == keyword) {
            self.before = Before::Operator;
        }
    }

    fn value(&mut self, text: &str) {
        if !self.before.is_tight() {
            self.text.push(' ');
        }
        self.text.push_str(text);
        self.before = Before::Operand;
    }
}

/// The kind of the token before.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Before {
    /// The beginning.
    Nothing,
    /// A value, after which a sign is an operator and a parenthesis a call.
    Operand,
    /// An operator or a keyword.
    Operator,
    /// A token that is followed by no space: a dot, or a sign before a value.
    Tight,
    /// The first half of an operator of several letters.
    Joint {
        /// True if it is before a value, not between two.
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
