//! Writes a parsed flow line by line. Each token and each comment is written once, in the order of
//! the source. A layout decides only about the gaps between them.

use std::ops::Range;

use unicode_width::UnicodeWidthStr as _;

use super::lexer::{Kind, Source, Token, width_of_space};
use super::measure::{Measure, WIDEST, ends_line};
use super::parser::Parsed;
use super::syntax::{Gap, List, Part, range};

/// The width of one level of indentation.
pub(super) const INDENT: usize = 4;

/// The place of a token.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// On this line, unless a comment before it ends the line.
    Here,
    /// On a new line that continues the statement, with this indentation.
    Below(usize),
    /// On a new line with this indentation, after the source's empty line, if it has one there.
    Line(usize),
}

/// The style of all lines of a file.
#[derive(Clone, Copy)]
pub(super) struct Style {
    pub(super) line_end: &'static str,
    pub(super) tabs: bool,
}

pub(super) struct Printer<'s, 'a> {
    source: &'s Source<'a>,
    measure: Measure<'s, 'a>,
    style: Style,
    out: String,
    column: usize,
    /// The indentation of the line.
    indent: usize,
    /// The indentation of a line that continues the statement.
    hanging: usize,
    /// The width of the text that follows the segments of a line: a comma, or nothing.
    after: usize,
    /// A token whose gap is already written.
    led: Option<usize>,
    /// The first token of the piece of Rust that is written, and the indentation of its line.
    anchor: (usize, usize),
    /// The distance by which the lines of that piece move to the right, once it is known.
    shift: Option<isize>,
}

impl<'s, 'a> Printer<'s, 'a> {
    /// Begins after the opening bracket of the macro, whose line has this indentation.
    pub(super) fn new(
        source: &'s Source<'a>,
        parsed: &'s Parsed,
        style: Style,
        indent: usize,
    ) -> Self {
        Printer {
            source,
            measure: Measure::new(source, parsed),
            style,
            out: String::new(),
            column: WIDEST,
            indent,
            hanging: indent + INDENT,
            after: 0,
            led: None,
            anchor: (parsed.first, indent),
            shift: None,
        }
    }

    pub(super) fn finish(self) -> String {
        self.out
    }

    /// Writes tokens on one line, as far as comments allow.
    pub(super) fn tokens(&mut self, tokens: Range<usize>) {
        for index in tokens {
            if self.measure.is_left_out(index) {
                continue;
            }
            self.token(index);
        }
    }

    pub(super) fn token(&mut self, index: usize) {
        if self.led != Some(index) {
            self.lead(index, Place::Here);
        }
        self.push(self.source.tokens[index].text);
    }

    /// Writes the comments and the space before a token.
    pub(super) fn lead(&mut self, index: usize, place: Place) {
        self.led = Some(index);
        let gap = self.measure.gap(index);
        if gap == Gap::AsWritten && place == Place::Here {
            return self.as_written(index);
        }
        let (token, comments) = (
            self.source.tokens[index],
            self.source.comments_before(index),
        );
        let is_closing = token.kind == Kind::Close;
        let (indent, indent_of_comments) = match place {
            Place::Here => (self.hanging, self.hanging),
            Place::Below(indent) => (indent, indent),
            Place::Line(indent) if is_closing => (indent, indent + INDENT),
            Place::Line(indent) => (indent, indent),
        };
        let is_first = index > 0 && self.source.tokens[index - 1].kind == Kind::Open;
        let empty = |at: usize, part: &Token<'_>| {
            matches!(place, Place::Line(_))
                && (at > 0 || !is_first)
                && self.source.has_empty_line(part)
        };
        let mut last_has_own_line = false;
        for (at, comment) in comments.iter().enumerate() {
            last_has_own_line = self.source.has_own_line(comment);
            if last_has_own_line {
                self.new_line(indent_of_comments, empty(at, comment))
            } else {
                self.push(" ")
            }
            self.comment(comment);
        }
        let goes_on = !comments.is_empty()
            && !ends_line(comments)
            && !self.source.space_before(&token).contains('\n');
        match place {
            Place::Here if comments.is_empty() || goes_on => {
                self.push(&" ".repeat(self.measure.blanks_before(index)));
            }
            Place::Line(_) if goes_on && last_has_own_line && !is_closing => self.push(" "),
            _ => self.new_line(indent, !is_closing && empty(comments.len(), &token)),
        }
        self.anchor = (index, self.indent);
        self.shift = None;
    }

    /// Writes the source's text before a token. Its lines keep their distance from the first.
    fn as_written(&mut self, index: usize) {
        let token = self.source.tokens[index];
        let comments = self.source.comments_before(index);
        for part in comments.iter().chain([&token]) {
            let space = self.source.space_before(part);
            match space.rsplit_once('\n') {
                None => self.push(space),
                Some((lines, indent)) => {
                    for _ in lines.matches('\n') {
                        self.out.push_str(self.style.line_end);
                    }
                    let shift = self.shift();
                    self.new_line(shifted(indent, shift), false);
                }
            }
            if part.kind == Kind::Comment {
                let shift = self.shift();
                self.push_comment(part, shift);
            }
        }
    }

    fn shift(&mut self) -> isize {
        let (first, indent) = self.anchor;
        let token = &self.source.tokens[first];
        let shift = self
            .shift
            .unwrap_or_else(|| distance(self.source.indent_of(token), indent));
        self.shift = Some(shift);
        shift
    }

    fn comment(&mut self, comment: &Token<'_>) {
        let shift = if comment.text.contains('\n') {
            distance(self.source.indent_of(comment), self.indent)
        } else {
            0
        };
        self.push_comment(comment, shift);
    }

    /// Writes a comment. Its lines move with the first one, except in documentation, where they are
    /// part of the text.
    fn push_comment(&mut self, comment: &Token<'_>, shift: isize) {
        let is_documentation = comment.text.starts_with("/**") || comment.text.starts_with("/*!");
        if shift == 0 || is_documentation {
            return self.push(comment.text);
        }
        let mut lines = comment.text.split('\n');
        let mut text = lines.next().unwrap_or_default().to_owned();
        for line in lines {
            let content = line.trim_start_matches([' ', '\t']);
            text.push('\n');
            if !content.trim().is_empty() {
                let indent = &line[..line.len() - content.len()];
                text += &self.space(shifted(indent, shift));
            }
            text += content;
        }
        self.push(&text);
    }

    /// Writes text. Line breaks in it are part of a token.
    fn push(&mut self, text: &str) {
        self.out.push_str(text);
        match text.rsplit_once('\n') {
            Some((_, last)) => self.column = last.width(),
            None => self.column += text.width(),
        }
    }

    fn new_line(&mut self, indent: usize, after_empty: bool) {
        if after_empty {
            self.out.push_str(self.style.line_end);
        }
        self.out.push_str(self.style.line_end);
        self.out += &self.space(indent);
        self.column = indent;
        self.indent = indent;
    }

    fn space(&self, width: usize) -> String {
        if self.style.tabs {
            "\t".repeat(width / INDENT) + &" ".repeat(width % INDENT)
        } else {
            " ".repeat(width)
        }
    }

    /// Writes segments on one line, and begins a new line before each one that does not fit.
    pub(super) fn line(&mut self, segments: &[Vec<Part>], indent: usize) {
        let outer = std::mem::replace(&mut self.hanging, indent + INDENT);
        for (at, segment) in segments.iter().enumerate() {
            let tokens = range(segment);
            if at == 0 {
                self.lead(tokens.start, Place::Line(indent));
            } else if !self.fits(tokens.clone(), self.column) {
                let fits_below = self.fits(tokens.clone(), indent + INDENT);
                if fits_below || !self.begins_here(segment) {
                    self.lead(tokens.start, Place::Below(indent + INDENT));
                }
            }
            self.segment(segment);
        }
        self.hanging = outer;
    }

    /// Writes a segment on one line, or with its lists broken: only the last one, if the text
    /// before it fits, and otherwise one after the other.
    fn segment(&mut self, segment: &[Part]) {
        let mut rest = segment;
        while !rest.is_empty() && !self.fits(range(rest), self.column) {
            let start = range(rest).start;
            let mut lists = rest
                .iter()
                .enumerate()
                .filter_map(|(at, part)| Some((at, part.breakable()?)));
            let first = lists.clone().next();
            let last = lists.rfind(|(_, list)| self.fits(start..list.open + 1, self.column));
            let Some((at, list)) = last.or(first) else {
                break;
            };
            self.tokens(start..list.open);
            if last.is_none() && self.fits(list.tokens(), self.column) {
                self.tokens(list.tokens())
            } else {
                self.broken(list)
            }
            rest = &rest[at + 1..];
        }
        self.tokens(range(rest));
    }

    fn broken(&mut self, list: &List) {
        self.token(list.open);
        let indent = self.indent;
        let outer = std::mem::replace(&mut self.after, usize::from(list.trailing_comma));
        for item in &list.items {
            self.line(&item.line.segments, indent + INDENT);
            self.comma(item.comma, list.trailing_comma);
        }
        self.after = outer;
        self.close(list.close, indent);
    }

    /// Writes a closing brace on a line of its own, or directly after the opening one if nothing is
    /// between them.
    pub(super) fn close(&mut self, close: usize, indent: usize) {
        let is_empty = self.source.partner(close) + 1 == close;
        if !is_empty || !self.source.comments_before(close).is_empty() {
            self.lead(close, Place::Line(indent));
        }
        self.token(close);
    }

    /// Writes the comma after an item that has a line of its own.
    pub(super) fn comma(&mut self, comma: Option<usize>, needed: bool) {
        match comma {
            Some(comma) => self.token(comma),
            None if needed => self.push(","),
            None => {}
        }
    }

    /// Returns true if these tokens fit on a line after this column.
    fn fits(&self, tokens: Range<usize>, column: usize) -> bool {
        let before = if self.led == Some(tokens.start) {
            Some(0)
        } else {
            self.measure.width_before(tokens.start)
        };
        let width = self.measure.width(tokens);
        before
            .zip(width)
            .is_some_and(|(before, width)| column + before + width + self.after <= WIDEST)
    }

    /// Returns true if a segment that does not fit on one line can begin on this one.
    fn begins_here(&self, segment: &[Part]) -> bool {
        let tokens = range(segment);
        match segment.iter().rev().find_map(Part::breakable) {
            Some(list) => self.fits(tokens.start..list.open + 1, self.column),
            None => {
                let before = self.measure.width_before(tokens.start);
                let width = self.measure.width_of_first_line(tokens);
                before.is_some_and(|before| self.column + before + width <= WIDEST)
            }
        }
    }
}

fn distance(from: usize, to: usize) -> isize {
    // Offsets in text are far below the largest `isize`.
    to.cast_signed() - from.cast_signed()
}

/// The width of space after a shift to the right, or 0 if it would be negative.
fn shifted(space: &str, shift: isize) -> usize {
    width_of_space(space).saturating_add_signed(shift)
}
