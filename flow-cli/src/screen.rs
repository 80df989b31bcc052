//! The output of a command: data to standard output, messages to standard error.

use std::io::{self, Write};

use anstyle::Style;

use crate::error::Error;
use crate::style::{ERROR, LITERAL, WARNING};
use crate::text::Text;

/// The result of a command that could be executed. Worse results are larger.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Outcome {
    /// There is no problem.
    Fine,
    /// A check or a comparison found something.
    Found,
    /// A part of it failed, and the errors are printed.
    Failed,
}

/// The output of a command.
pub(crate) struct Screen<'a> {
    data: &'a mut dyn Write,
    words: &'a mut dyn Write,
}

impl<'a> Screen<'a> {
    /// Writes data to the first, messages to the second.
    pub(crate) fn new(data: &'a mut dyn Write, words: &'a mut dyn Write) -> Self {
        Screen { data, words }
    }

    /// Writes the result of a command for people.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`data`](Self::data).
    pub(crate) fn show(&mut self, text: &Text) -> Result<(), Error> {
        self.data(text.as_str())
    }

    /// Writes data for programs, in a format that escapes its content.
    ///
    /// # Errors
    ///
    /// The data cannot be written. A closed output is not an error, as in `cargo flow list | head
    /// -1`.
    pub(crate) fn data(&mut self, text: &str) -> Result<(), Error> {
        let written = self.data.write_all(text.as_bytes());
        unless_unread(written.and_then(|()| self.data.flush()))
    }

    /// Writes text byte for byte, including what would be a colour in [`data`](Self::data).
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`data`](Self::data).
    pub(crate) fn verbatim(&mut self, text: &str) -> Result<(), Error> {
        let mut output = io::stdout();
        let written = output.write_all(text.as_bytes());
        unless_unread(written.and_then(|()| output.flush()))
    }

    /// Prints what was done.
    pub(crate) fn note(&mut self, words: &str) {
        self.say(&Text::line(words));
    }

    /// Prints a warning about something that may not be as expected.
    pub(crate) fn warning(&mut self, words: &str) {
        self.say(&titled(WARNING, "warning", words));
    }

    /// Prints a hint how to fix something.
    pub(crate) fn help(&mut self, words: &str) {
        self.say(&titled(LITERAL, "help", words));
    }

    /// Prints the error of a command.
    pub(crate) fn error(&mut self, error: &Error) {
        // Messages of the system or cargo may have several lines. In a message of this program, a
        // line break is part of a name.
        let causes = causes(error);
        let mut causes = causes.lines();
        let first = format!("{error}{}", causes.next().unwrap_or_default());
        let mut text = titled(ERROR, "error", &first);
        let notes = error.notes();
        for line in causes.chain(notes.iter().flat_map(|note| note.lines())) {
            text.push(INDENT).push(line).end_line();
        }
        if let Some(help) = error.help() {
            text.push(INDENT).append(&titled(LITERAL, "help", &help));
        }
        self.say(&text);
    }

    /// Writes a message. If this fails, nobody can be told.
    fn say(&mut self, text: &Text) {
        let _ = self.words.write_all(text.as_str().as_bytes());
    }

    /// Returns the exit code of the outcome, or prints the error and returns its exit code.
    pub(crate) fn finish(&mut self, result: Result<Outcome, Error>) -> u8 {
        match result {
            Ok(Outcome::Fine) => 0,
            Ok(Outcome::Found) => 1,
            Ok(Outcome::Failed) => 2,
            Err(error) => {
                self.error(&error);
                2
            }
        }
    }
}

fn unless_unread(written: io::Result<()>) -> Result<(), Error> {
    match written {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => Ok(written?),
    }
}

/// As wide as `error: `.
const INDENT: &str = "       ";

/// Formats a line with a title: `error: `.
fn titled(style: Style, title: &str, words: &str) -> Text {
    let mut text = Text::default();
    text.push_styled(style, title)
        .push(": ")
        .push(words)
        .end_line();
    text
}

/// Returns the causes of the error, each after a colon.
fn causes(error: &Error) -> String {
    let mut text = String::new();
    let mut source = std::error::Error::source(error);
    while let Some(error) = source {
        text = format!("{text}: {}", error.to_string().trim_end());
        source = error.source();
    }
    text
}
