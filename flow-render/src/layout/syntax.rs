//! The content of the brackets of `flow!`, to the extent that its layout depends on it.

use std::ops::Range;

/// A whole flow. Numbers are the indices of tokens.
#[derive(Debug)]
pub(super) struct Flow {
    /// The attributes `#[…]`, each on a line of its own.
    pub(super) attributes: Vec<Range<usize>>,
    /// The tokens from the visibility to the `{`.
    pub(super) head: Line,
    pub(super) statements: Vec<Statement>,
    /// The `}`.
    pub(super) close: usize,
}

#[derive(Debug)]
pub(super) enum Statement {
    /// A declaration, a namespace, or an edge without an action.
    Plain(Line),
    /// `source - "action" >> …`
    Edge(Edge),
    Branch(Branch),
}

#[derive(Debug)]
pub(super) struct Edge {
    pub(super) line: Line,
    /// The `-`.
    pub(super) minus: usize,
    /// The first `>>`.
    pub(super) arrow: usize,
}

/// `branch name(keys) { … }`
#[derive(Debug)]
pub(super) struct Branch {
    /// The tokens up to the `{`.
    pub(super) head: Line,
    pub(super) cases: Vec<Item>,
    /// The `}`.
    pub(super) close: usize,
}

/// Text on one line, if it fits. Otherwise lines begin before some of its segments.
#[derive(Debug, Default)]
pub(super) struct Line {
    pub(super) segments: Vec<Segment>,
}

/// Text in which only lists can be broken.
pub(super) type Segment = Vec<Part>;

#[derive(Debug)]
pub(super) enum Part {
    Tokens(Range<usize>),
    List(List),
}

/// Items in brackets: on one line if they fit, otherwise each on a line of its own.
#[derive(Debug)]
pub(super) struct List {
    pub(super) open: usize,
    pub(super) items: Vec<Item>,
    pub(super) close: usize,
    /// True if a comma ends the last item when each has a line of its own.
    pub(super) trailing_comma: bool,
}

#[derive(Debug)]
pub(super) struct Item {
    pub(super) line: Line,
    pub(super) comma: Option<usize>,
}

/// The gap before a token if it stays on the line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Gap {
    /// This many blanks.
    Blanks(usize),
    /// The text that the source has there.
    AsWritten,
    /// An empty gap before a comma after the last item of a list. The comma is left out if the list
    /// is on one line.
    TrailingComma,
}

impl Gap {
    pub(super) const NONE: Gap = Gap::Blanks(0);
    pub(super) const ONE: Gap = Gap::Blanks(1);
}

impl Statement {
    /// The index of the first token.
    pub(super) fn first(&self) -> usize {
        match self {
            Statement::Plain(line) => line.first(),
            Statement::Edge(edge) => edge.line.first(),
            Statement::Branch(branch) => branch.head.first(),
        }
    }
}

impl Line {
    /// The index of the first token.
    pub(super) fn first(&self) -> usize {
        range(&self.segments[0]).start
    }
}

impl List {
    /// The tokens from bracket to bracket.
    pub(super) fn tokens(&self) -> Range<usize> {
        self.open..self.close + 1
    }
}

impl Part {
    /// The list, if it has items that can have lines of their own.
    pub(super) fn breakable(&self) -> Option<&List> {
        match self {
            Part::List(list) if !list.items.is_empty() => Some(list),
            _ => None,
        }
    }

    fn range(&self) -> Range<usize> {
        match self {
            Part::Tokens(tokens) => tokens.clone(),
            Part::List(list) => list.tokens(),
        }
    }
}

/// The tokens of these consecutive parts.
pub(super) fn range(parts: &[Part]) -> Range<usize> {
    match parts {
        [] => 0..0,
        [first, .., last] => first.range().start..last.range().end,
        [part] => part.range(),
    }
}
