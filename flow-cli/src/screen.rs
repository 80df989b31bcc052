//! Where a command writes: data to standard output, words to standard error.

use std::io::{self, Write};

use crate::style::{ERROR, LITERAL, WARNING, printable, styled};
use crate::{Error, Outcome};

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

    /// Writes data.
    ///
    /// # Errors
    ///
    /// They cannot be written. That nobody reads them any more, as in `cargo flow list | head -1`, is no error.
    pub(crate) fn data(&mut self, text: &str) -> Result<(), Error> {
        let written = self.data.write_all(text.as_bytes());
        match written.and_then(|()| self.data.flush()) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            written => Ok(written?),
        }
    }

    /// Says what was done.
    pub(crate) fn note(&mut self, text: &str) {
        self.say(&printable(text));
    }

    /// Says what may not be as expected.
    pub(crate) fn warning(&mut self, text: &str) {
        self.say(&format!(
            "{}: {}",
            styled(WARNING, "warning"),
            printable(text)
        ));
    }

    /// Says what to do.
    pub(crate) fn help(&mut self, text: &str) {
        self.say(&format!("{}: {}", styled(LITERAL, "help"), printable(text)));
    }

    /// Says why a command could not do what it was asked.
    pub(crate) fn error(&mut self, error: &Error) {
        let mut text = format!("{}: {}", styled(ERROR, "error"), printable(&chain(error)));
        for note in error.notes() {
            text.push_str(&indented(&printable(&note)));
        }
        if let Some(help) = error.help() {
            let help = format!("{}: {}", styled(LITERAL, "help"), printable(&help));
            text.push_str(&indented(&help));
        }
        self.say(&text);
    }

    /// If not even this can be written, there is nobody to tell.
    fn say(&mut self, text: &str) {
        let _ = writeln!(self.words, "{text}");
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

fn chain(error: &Error) -> String {
    let mut text = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(error) = source {
        text = format!("{text}: {}", error.to_string().trim_end());
        source = error.source();
    }
    text
}

/// Under `error: `.
fn indented(text: &str) -> String {
    let lines = text.lines().map(|line| format!("\n       {line}"));
    lines.collect()
}
