//! Problems of a document, with their places.

use std::fmt;

use crate::diagnostic::{Code, MOST_NOTES, shorten};
use crate::visible::visible;

/// One mistake in a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The place, as a JSON pointer (RFC 6901). `""` is the whole document.
    pub pointer: String,
    /// True if the name of the field at the pointer is wrong, rather than its value.
    pub is_name: bool,
    /// The kind of mistake.
    pub code: Code,
    /// The message: one sentence without a full stop.
    pub message: String,
    /// Facts that show the mistake, such as a path, one per line.
    pub notes: Vec<String>,
    /// Related places: the pointer of each, with a text.
    pub related: Vec<(String, String)>,
    /// The help for fixing it.
    pub help: Option<String>,
}

impl Problem {
    /// Creates a problem without further details.
    pub fn new(code: Code, pointer: impl Into<String>, message: impl Into<String>) -> Self {
        Problem {
            pointer: pointer.into(),
            is_name: false,
            code,
            message: message.into(),
            notes: Vec::new(),
            related: Vec::new(),
            help: None,
        }
    }

    /// Marks the name of the field as wrong.
    #[must_use]
    pub fn of_name(mut self) -> Self {
        self.is_name = true;
        self
    }

    /// Adds help for fixing it.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

/// The maximum number of problems of a document that are listed.
pub const MOST_PROBLEMS: usize = 100;

/// The problems of a document: the first [`MOST_PROBLEMS`], with long texts shortened, and a note
/// if there are more.
///
/// A document may come from anywhere, and can have the same mistake a million times.
///
/// # Examples
///
/// ```
/// use flow_spec::FlowDocument;
/// use flow_spec::document::Problems;
///
/// let mut problems = Problems::default();
/// while !problems.is_full() {
///     problems.extend(FlowDocument::parse("{}").unwrap_err());
/// }
/// let problems = problems.into_vec();
/// assert_eq!(problems.len(), 101);
/// assert_eq!(problems[100].message, "there are more problems than these 100");
/// ```
#[derive(Debug, Default)]
pub struct Problems {
    listed: Vec<Problem>,
    more: bool,
}

impl Problems {
    /// Adds a problem. If the list is complete, only notes that there are more.
    pub fn push(&mut self, mut problem: Problem) {
        if self.listed.len() == MOST_PROBLEMS {
            self.more = true;
            return;
        }
        shorten(&mut problem.pointer);
        shorten(&mut problem.message);
        problem.notes.truncate(MOST_NOTES);
        problem.notes.iter_mut().for_each(shorten);
        problem.related.truncate(MOST_NOTES);
        for (pointer, what) in &mut problem.related {
            shorten(pointer);
            shorten(what);
        }
        problem.help.iter_mut().for_each(shorten);
        self.listed.push(problem);
    }

    /// Adds problems until there are more than can be listed.
    pub fn extend(&mut self, problems: impl IntoIterator<Item = Problem>) {
        for problem in problems {
            self.push(problem);
            if self.is_full() {
                break;
            }
        }
    }

    /// Returns `true` if there are more than are listed. Adding another one then has no effect.
    pub fn is_full(&self) -> bool {
        self.more
    }

    /// Returns `true` if there are no problems.
    pub fn is_empty(&self) -> bool {
        self.listed.is_empty()
    }

    /// Returns the number of listed problems.
    pub fn len(&self) -> usize {
        self.listed.len()
    }

    /// Returns the listed problems. If there are more, the last one says so.
    pub fn into_vec(mut self) -> Vec<Problem> {
        if self.more {
            let message = format!("there are more problems than these {MOST_PROBLEMS}");
            let problem = Problem::new(Code::Document, "", message);
            self.listed.push(problem.help("mend these first"));
        }
        self.listed
    }

    /// The problems that were added after the first `len`.
    pub(super) fn since(&self, len: usize) -> &[Problem] {
        &self.listed[len..]
    }
}

/// Formats the problem: its place and the message, then a line for each note, each related place
/// and the help. Text quoted from the document is [`visible`], so that it cannot begin a line.
impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = match self.pointer.as_str() {
            "" => "/",
            pointer => pointer,
        };
        let (place, message) = (visible(place), visible(&self.message));
        write!(f, "{place}: {message} [{}]", self.code)?;
        for note in &self.notes {
            write!(f, "\n{}", visible(note))?;
        }
        for (pointer, what) in &self.related {
            write!(f, "\n{} ({})", visible(what), visible(pointer))?;
        }
        if let Some(help) = &self.help {
            write!(f, "\nhelp: {}", visible(help))?;
        }
        Ok(())
    }
}

impl std::error::Error for Problem {}

/// Returns the pointer of `part` inside `pointer`.
pub fn inside(pointer: &str, part: impl fmt::Display) -> String {
    let part = part.to_string().replace('~', "~0").replace('/', "~1");
    format!("{pointer}/{part}")
}
