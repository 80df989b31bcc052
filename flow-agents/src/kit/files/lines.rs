//! A result of lines, with a maximum size.

/// The maximum number of lines of a result.
pub(super) const MOST_LINES: usize = 1_000;

/// Lines up to a limit, and the number of lines beyond it.
pub(super) struct Lines {
    text: String,
    lines: usize,
    left: usize,
    beyond: u64,
}

impl Lines {
    /// Creates an empty result, with room for a number of characters.
    pub(super) fn new(characters: usize) -> Lines {
        let text = String::new();
        Lines {
            text,
            lines: 0,
            left: characters,
            beyond: 0,
        }
    }

    /// Adds a line, or counts it if there is no room left.
    pub(super) fn push(&mut self, line: &str) {
        let characters = line.chars().count() + 1;
        if self.beyond > 0 || characters > self.left || self.lines == MOST_LINES {
            self.beyond += 1;
            return;
        }
        self.left -= characters;
        self.lines += 1;
        self.text.push_str(line);
        self.text.push('\n');
    }

    /// The lines, with notes about the missing ones. `empty` is the text if there are no lines.
    pub(super) fn finish(self, empty: &str, notes: &[String]) -> String {
        let mut text = self.text;
        if self.lines == 0 && self.beyond == 0 {
            text.push_str(empty);
            text.push('\n');
        }
        for note in notes {
            text.push_str(&format!("… {note}\n"));
        }
        text.pop();
        text
    }

    /// The number of lines that were left out.
    pub(super) fn beyond(&self) -> u64 {
        self.beyond
    }
}
