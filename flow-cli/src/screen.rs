//! Where a command writes: data to standard output, words to standard error.

use std::io::{self, Write};

use anstyle::Style;

use crate::error::Error;
use crate::style::{ERROR, LITERAL, WARNING};
use crate::text::Text;

/// What came of a command that could do what it was asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// All is well.
    Fine,
    /// What was to be checked or compared is not as it should be.
    Found,
}

/// Where a command writes.
pub(crate) struct Screen<'a> {
    data: &'a mut dyn Write,
    words: &'a mut dyn Write,
}

impl<'a> Screen<'a> {
    /// Data goes to the first, words to the second.
    pub(crate) fn new(data: &'a mut dyn Write, words: &'a mut dyn Write) -> Self {
        Screen { data, words }
    }

    /// Writes the result of a command for people.
    ///
    /// # Errors
    ///
    /// As [`data`](Self::data).
    pub(crate) fn show(&mut self, text: &Text) -> Result<(), Error> {
        self.data(text.as_str())
    }

    /// Writes data for programs: in a format that escapes what is in it.
    ///
    /// # Errors
    ///
    /// They cannot be written. That nobody reads them any more, as in `cargo flow list | head -1`,
    /// is not an error.
    pub(crate) fn data(&mut self, text: &str) -> Result<(), Error> {
        let written = self.data.write_all(text.as_bytes());
        match written.and_then(|()| self.data.flush()) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            written => Ok(written?),
        }
    }

    /// Says what was done.
    pub(crate) fn note(&mut self, words: &str) {
        self.say(&Text::line(words));
    }

    /// Says what may not be as expected.
    pub(crate) fn warning(&mut self, words: &str) {
        self.say(&titled(WARNING, "warning", words));
    }

    /// Says what to do.
    pub(crate) fn help(&mut self, words: &str) {
        self.say(&titled(LITERAL, "help", words));
    }

    /// Says why a command could not do what it was asked.
    pub(crate) fn error(&mut self, error: &Error) {
        // What the system or cargo says may have several lines. In what is said here, a line break
        // is part of a name.
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

    /// If not even this can be written, there is nobody to tell.
    fn say(&mut self, text: &Text) {
        let _ = self.words.write_all(text.as_str().as_bytes());
    }

    /// The outcome, or the error said and the exit code for it.
    pub(crate) fn finish(&mut self, result: Result<Outcome, Error>) -> u8 {
        match result {
            Ok(Outcome::Fine) => 0,
            Ok(Outcome::Found) => 1,
            Err(error) => {
                self.error(&error);
                2
            }
        }
    }
}

/// Under `error: `.
const INDENT: &str = "       ";

/// A line that begins with what it is: `error: `.
fn titled(style: Style, title: &str, words: &str) -> Text {
    let mut text = Text::default();
    text.push_styled(style, title)
        .push(": ")
        .push(words)
        .end_line();
    text
}

/// What made the error, each cause after a colon.
fn causes(error: &Error) -> String {
    let mut text = String::new();
    let mut source = std::error::Error::source(error);
    while let Some(error) = source {
        text = format!("{text}: {}", error.to_string().trim_end());
        source = error.source();
    }
    text
}
