//! Widths of text that is to be written on one line.

use std::ops::Range;

use unicode_width::UnicodeWidthStr as _;

use super::lexer::{Kind, Source, Token};
use super::parser::Parsed;
use super::syntax::Gap;

/// The maximum width of a line, if its content can be broken.
pub(super) const WIDEST: usize = 100;

#[derive(Clone, Copy)]
pub(super) struct Measure<'s, 'a> {
    source: &'s Source<'a>,
    parsed: &'s Parsed,
}

impl<'s, 'a> Measure<'s, 'a> {
    pub(super) fn new(source: &'s Source<'a>, parsed: &'s Parsed) -> Self {
        Measure { source, parsed }
    }

    /// The gap before a token. The macro's closing bracket, after all tokens, has none.
    pub(super) fn gap(&self, index: usize) -> Gap {
        let gap = self.parsed.gaps.get(index - self.parsed.first);
        gap.copied().unwrap_or(Gap::NONE)
    }

    /// Returns true if a token is left out on one line: a comma before a closing bracket.
    pub(super) fn is_left_out(&self, index: usize) -> bool {
        self.gap(index) == Gap::TrailingComma && self.source.comments_before(index).is_empty()
    }

    /// The width of these tokens on one line, without the gap before the first one. `None` if they
    /// contain a line break, or are wider than any line.
    pub(super) fn width(&self, tokens: Range<usize>) -> Option<usize> {
        let mut width = 0;
        let first = tokens.start;
        for index in tokens.filter(|index| !self.is_left_out(*index)) {
            let text = self.source.tokens[index].text;
            if index > first {
                width += self.width_before(index)?;
            }
            width += text.width();
            if width > WIDEST || text.contains('\n') {
                return None;
            }
        }
        Some(width)
    }

    /// The width of these tokens up to the first line break in them.
    pub(super) fn width_of_first_line(&self, tokens: Range<usize>) -> usize {
        let mut width = 0;
        let first = tokens.start;
        for index in tokens {
            match self.width_before(index) {
                _ if index == first => {}
                Some(before) => width += before,
                None => break,
            }
            let text = self.source.tokens[index].text;
            let line = text.split('\n').next().unwrap_or(text);
            width += line.width();
            if width > WIDEST || line.len() < text.len() {
                break;
            }
        }
        width
    }

    /// The width of the gap before a token if it stays on the line. `None` if it cannot.
    pub(super) fn width_before(&self, index: usize) -> Option<usize> {
        let comments = self.source.comments_before(index);
        let space = self.source.space_before(&self.source.tokens[index]);
        if self.gap(index) == Gap::AsWritten {
            let written = self.source.text_before(index);
            return (!written.contains('\n')).then(|| written.width());
        }
        let stays = |comment: &Token<'_>| {
            !self.source.has_own_line(comment) && !comment.text.contains('\n')
        };
        let all = comments.is_empty()
            || comments.iter().all(stays) && !ends_line(comments) && !space.contains('\n');
        let width = comments.iter().map(|comment| 1 + comment.text.width());
        all.then(|| width.sum::<usize>() + self.blanks_before(index))
    }

    /// The blanks between a token and the token or the comment before it on the line.
    pub(super) fn blanks_before(&self, index: usize) -> usize {
        let follows_comment = !self.source.comments_before(index).is_empty();
        let is_mark = matches!(self.source.tokens[index].kind, Kind::Sign | Kind::Close);
        match (self.gap(index), follows_comment) {
            (Gap::Blanks(_), true) if !is_mark => 1,
            (Gap::Blanks(blanks), true) => blanks.min(1),
            (Gap::Blanks(blanks), false) => blanks,
            (Gap::AsWritten | Gap::TrailingComma, _) => 0,
        }
    }
}

/// Returns true if the last of these comments extends to the end of its line.
pub(super) fn ends_line(comments: &[Token<'_>]) -> bool {
    comments
        .last()
        .is_some_and(|comment| comment.text.starts_with("//"))
}
