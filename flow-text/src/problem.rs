//! Problems with their places in the text.

use std::fmt;

use flow_spec::document::MOST_PROBLEMS;
use flow_spec::{Code, visible};

/// A place in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The line, counted from 1.
    pub line: usize,
    /// The character in the line, counted from 1.
    pub column: usize,
}

/// One mistake in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The place in the text.
    pub place: Place,
    /// The JSON pointer (RFC 6901) in the document. `""` is the whole document, or a text that
    /// cannot be read at all.
    pub pointer: String,
    /// The kind of mistake.
    pub code: Code,
    /// The mistake: one sentence without a full stop.
    pub message: String,
    /// Facts that show the mistake, such as a path, one per line.
    pub notes: Vec<String>,
    /// The way to fix it.
    pub help: Option<String>,
}

impl Place {
    /// The beginning of a text.
    pub(crate) const START: Place = Place { line: 1, column: 1 };

    /// The place of the byte at this offset, which may be inside a character.
    pub(crate) fn of(bytes: &[u8], offset: usize) -> Place {
        let before = &bytes[..offset.min(bytes.len())];
        let line = before.rsplit(|byte| *byte == b'\n').next();
        Place {
            line: before.iter().filter(|byte| **byte == b'\n').count() + 1,
            column: characters(line.unwrap_or_default()) + 1,
        }
    }
}

/// The number of characters that begin in these bytes of UTF-8.
pub(crate) fn characters(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| begins_character(**byte)).count()
}

pub(crate) fn begins_character(byte: u8) -> bool {
    byte & 0b1100_0000 != 0b1000_0000
}

/// The listed problems of a text.
#[derive(Debug, Default)]
pub(crate) struct Found {
    listed: Vec<Problem>,
    more: bool,
}

/// The maximum number of bytes in a text of a problem. Texts quote names, which can be of any
/// length.
const LONGEST: usize = 2000;

impl Found {
    /// Adds a problem. The value of a YAML alias is read at several places, and has the same
    /// problem at each.
    pub(crate) fn push(&mut self, mut problem: Problem) {
        let is_same =
            |other: &Problem| (other.place, &other.message) == (problem.place, &problem.message);
        if self.listed.iter().any(is_same) {
            return;
        }
        if self.listed.len() == MOST_PROBLEMS {
            self.more = true;
            return;
        }
        for text in [&mut problem.pointer, &mut problem.message] {
            if text.len() > LONGEST {
                text.truncate(text.floor_char_boundary(LONGEST));
                text.shrink_to_fit();
                text.push('…');
            }
        }
        self.listed.push(problem);
    }

    /// Returns true if there are more than the listed ones.
    pub(crate) fn is_full(&self) -> bool {
        self.more
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.listed.is_empty()
    }

    /// The listed problems. If there are more, a last one says so.
    pub(crate) fn into_vec(mut self) -> Vec<Problem> {
        if self.more {
            let message = format!("there are more problems than these {MOST_PROBLEMS}");
            let problem = Problem::new(Place::START, "", message);
            self.listed.push(problem.help("mend these first"));
        }
        self.listed
    }
}

impl Problem {
    /// Creates a problem for a mistake in the shape of a text.
    pub(crate) fn new(
        place: Place,
        pointer: impl Into<String>,
        message: impl Into<String>,
    ) -> Self {
        Problem {
            place,
            pointer: pointer.into(),
            code: Code::Document,
            message: message.into(),
            notes: Vec::new(),
            help: None,
        }
    }

    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

/// Prints `12:5`, as compilers do.
impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// Prints the place and the message, then a line for the JSON pointer, each note and the help. Text
/// quoted from the document is [`visible`], so that it cannot begin a line.
impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (place, message) = (self.place, visible(&self.message));
        write!(f, "{place}: {message} [{}]", self.code)?;
        if !self.pointer.is_empty() {
            write!(f, "\nat {}", visible(&self.pointer))?;
        }
        for note in &self.notes {
            write!(f, "\n{}", visible(note))?;
        }
        if let Some(help) = &self.help {
            write!(f, "\nhelp: {}", visible(help))?;
        }
        Ok(())
    }
}

impl std::error::Error for Problem {}
