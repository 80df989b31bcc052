//! A result of lines that has a largest size.

/// How many lines a result has at most.
pub(super) const MOST_LINES: usize = 1_000;

/// Lines up to a limit, and how many there were beyond it.
pub(super) struct Lines {
    text: String,
    lines: usize,
    left: usize,
    beyond: u64,
}

impl Lines {
    /// No lines, with room for so many characters.
    pub(super) fn new(characters: usize) -> Lines {
        let text = String::new();
        Lines {
            text,
            lines: 0,
            left: characters,
            beyond: 0,
        }
    }

    /// Adds a line, or counts it if there is no more room.
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

    /// The lines, with notes about what is missing. `empty` is said if there is no line.
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

    /// How many lines were left out.
    pub(super) fn beyond(&self) -> u64 {
        self.beyond
    }
}
