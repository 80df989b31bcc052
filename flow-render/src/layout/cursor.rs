//! Reads the tokens of a flow one after the other, and records the gap before each.

use super::lexer::{Fault, Kind, Source};
use super::syntax::{Gap, Item, Line, List, Part};

/// The maximum depth of brackets outside of Rust.
const DEEPEST: usize = 64;

/// A piece of Rust in a flow.
#[derive(Clone, Copy)]
pub(super) enum Rust {
    /// The type of a key.
    Type,
    /// The path of a node, with its generic arguments.
    Path,
    /// The value of a node.
    Value,
    /// The default of an input.
    Default,
    /// The value of a setting.
    Setting,
    /// The condition of a branch.
    Condition,
    /// The content of a group.
    Content,
}

impl Rust {
    /// The tokens that end it. In a type or a path, those in angle brackets do not.
    fn ends(self) -> &'static [&'static str] {
        match self {
            Rust::Type => &[",", "="],
            Rust::Path => &["{", "=", ";", "with"],
            Rust::Value => &[";", "with"],
            Rust::Default => &[","],
            Rust::Setting => &[",", ";"],
            Rust::Condition => &["=>"],
            Rust::Content => &[],
        }
    }

    fn is_type(self) -> bool {
        matches!(self, Rust::Type | Rust::Path)
    }
}

pub(super) struct Cursor<'s, 'a> {
    source: &'s Source<'a>,
    pub(super) at: usize,
    /// The bracket that closes the group.
    end: usize,
    pub(super) gaps: Vec<Gap>,
    first: usize,
    depth: usize,
}

impl<'s, 'a> Cursor<'s, 'a> {
    /// Begins after the opening bracket.
    pub(super) fn new(source: &'s Source<'a>, open: usize, close: usize) -> Self {
        Cursor {
            source,
            at: open + 1,
            end: close,
            gaps: vec![Gap::ONE; close - open - 1],
            first: open + 1,
            depth: 0,
        }
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.at == self.end
    }

    /// The text of the next token, or of the one after some others. Empty at the end of the group.
    pub(super) fn text(&self, after: usize) -> &'a str {
        match self.kind(after) {
            Some(_) => self.source.tokens[self.at + after].text,
            None => "",
        }
    }

    pub(super) fn kind(&self, after: usize) -> Option<Kind> {
        let index = self.at + after;
        (index < self.end).then(|| self.source.tokens[index].kind)
    }

    pub(super) fn fault<T>(&self, message: impl Into<String>) -> Result<T, Fault> {
        Err(Fault::new(self.source.tokens[self.at].start, message))
    }

    pub(super) fn take(&mut self, gap: Gap) -> usize {
        self.gaps[self.at - self.first] = gap;
        self.at += 1;
        self.at - 1
    }

    pub(super) fn take_if(&mut self, text: &str, gap: Gap) -> Option<usize> {
        (self.text(0) == text).then(|| self.take(gap))
    }

    pub(super) fn expect(&mut self, text: &str, gap: Gap, expected: &str) -> Result<usize, Fault> {
        match self.take_if(text, gap) {
            Some(index) => Ok(index),
            None => self.fault(format!("expected {expected}")),
        }
    }

    pub(super) fn word(&mut self, gap: Gap, expected: &str) -> Result<usize, Fault> {
        match self.kind(0) {
            Some(Kind::Word) => Ok(self.take(gap)),
            _ => self.fault(format!("expected {expected}")),
        }
    }

    pub(super) fn quoted(&mut self, gap: Gap, expected: &str) -> Result<usize, Fault> {
        match self.kind(0) {
            Some(Kind::Quoted) => Ok(self.take(gap)),
            _ => self.fault(format!("expected {expected}")),
        }
    }

    /// Reads Rust as it is written, up to the end of the group or to a token outside of brackets
    /// that ends it.
    pub(super) fn rust(&mut self, gap: Gap, rust: Rust, expected: &str) -> Result<(), Fault> {
        let from = self.at;
        let mut angles = 0_usize;
        while let Some(kind) = self.kind(0) {
            let text = self.text(0);
            let ends = angles == 0 && rust.ends().contains(&text);
            if ends && (text != "with" || self.at != from && self.is_with()) {
                break;
            }
            if rust.is_type() || angles > 0 || self.follows("::") {
                match text {
                    "<" | "<-" => angles += 1,
                    ">" => angles = angles.saturating_sub(1),
                    ">>" => angles = angles.saturating_sub(2),
                    _ => {}
                }
            }
            let gap = if self.at == from { gap } else { Gap::AsWritten };
            match kind {
                Kind::Open => self.group(gap),
                _ => drop(self.take(gap)),
            }
        }
        if self.at == from {
            return self.fault(format!("expected {expected}"));
        }
        match angles {
            0 => Ok(()),
            _ => self.fault("expected `>`"),
        }
    }

    /// Returns true if this is the text of the token before the next one.
    fn follows(&self, text: &str) -> bool {
        let before = self.at.checked_sub(1);
        before.is_some_and(|before| self.source.tokens[before].text == text)
    }

    /// Takes a bracket and everything up to its partner, as written.
    pub(super) fn group(&mut self, gap: Gap) {
        let close = self.source.partner(self.at);
        self.take(gap);
        while self.at <= close {
            self.take(Gap::AsWritten);
        }
    }

    /// Returns true if the settings begin here. `with` can also be a method.
    pub(super) fn is_with(&self) -> bool {
        let before = self.source.tokens[self.at - 1].text;
        self.text(0) == "with" && !matches!(before, "." | "::") && self.kind(1) == Some(Kind::Word)
    }

    /// Reads the content of the brackets that begin here.
    pub(super) fn inside<T>(
        &mut self,
        gap: Gap,
        parse: impl FnOnce(&mut Self) -> Result<T, Fault>,
    ) -> Result<(usize, T, usize), Fault> {
        if self.depth == DEEPEST {
            return self.fault(format!("brackets are nested more than {DEEPEST} deep"));
        }
        let close = self.source.partner(self.at);
        let open = self.take(gap);
        let end = std::mem::replace(&mut self.end, close);
        self.depth += 1;
        let parsed = parse(self)?;
        if !self.is_at_end() {
            return self.fault(format!("expected `{}`", self.source.tokens[close].text));
        }
        self.depth -= 1;
        self.end = end;
        // The gap of a closing bracket is that of the first token in the brackets.
        let gap = if open + 1 < close {
            self.gaps[open + 1 - self.first]
        } else {
            Gap::NONE
        };
        Ok((open, parsed, self.take(gap)))
    }

    /// Reads items that commas separate.
    pub(super) fn items(
        &mut self,
        first: Gap,
        mut item: impl FnMut(&mut Self, Gap) -> Result<Line, Fault>,
    ) -> Result<Vec<Item>, Fault> {
        let mut items = Vec::new();
        while !self.is_at_end() {
            let gap = if items.is_empty() { first } else { Gap::ONE };
            let line = item(self, gap)?;
            let comma = self.take_if(",", Gap::NONE);
            items.push(Item { line, comma });
            if let Some(comma) = comma.filter(|_| self.is_at_end()) {
                self.gaps[comma - self.first] = Gap::TrailingComma;
            }
            if comma.is_none() {
                break;
            }
        }
        Ok(items)
    }

    pub(super) fn list(
        &mut self,
        gap: Gap,
        first: Gap,
        item: impl FnMut(&mut Self, Gap) -> Result<Line, Fault>,
    ) -> Result<List, Fault> {
        let (open, items, close) = self.inside(gap, |cursor| cursor.items(first, item))?;
        Ok(List {
            open,
            items,
            close,
            trailing_comma: true,
        })
    }

    pub(super) fn line_from(&self, from: usize) -> Line {
        Line {
            segments: vec![vec![Part::Tokens(from..self.at)]],
        }
    }
}
