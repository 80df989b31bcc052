//! What is wrong with a document, and where.

use std::fmt;

use crate::diagnostic::Code;
use crate::visible::visible;

/// One mistake in a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Where it is: a JSON pointer (RFC 6901), `""` for the whole document.
    pub pointer: String,
    /// What kind of mistake it is.
    pub code: Code,
    /// What is wrong: one sentence without a full stop.
    pub message: String,
    /// Facts that show it, such as a path; each a line of its own.
    pub notes: Vec<String>,
    /// What to do about it.
    pub help: Option<String>,
}

impl Problem {
    pub(super) fn new(code: Code, pointer: impl Into<String>, message: impl Into<String>) -> Self {
        Problem {
            pointer: pointer.into(),
            code,
            message: message.into(),
            notes: Vec::new(),
            help: None,
        }
    }

    pub(super) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

/// The text of the problem: the message after its place, then a line for each note and the help. What is quoted from the
/// document is [`visible`], so that it is no line of its own.
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
        if let Some(help) = &self.help {
            write!(f, "\nhelp: {}", visible(help))?;
        }
        Ok(())
    }
}

impl std::error::Error for Problem {}

/// The pointer of `part` inside of `pointer`.
pub(crate) fn inside(pointer: &str, part: impl fmt::Display) -> String {
    let part = part.to_string().replace('~', "~0").replace('/', "~1");
    format!("{pointer}/{part}")
}
