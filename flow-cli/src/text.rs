//! Text for people: the program's own words, and names, paths and values that may come from
//! anywhere.
//!
//! Everything added to a [`Text`] is made visible, including line breaks: only the program itself
//! ends a line or sets a colour. The screen shows only texts, so no command can forget this.

use std::fmt::Display;

use anstyle::Style;
use flow_spec::visible;

/// Lines for the screen. Their content cannot control the terminal or begin a line.
#[derive(Debug, Default)]
pub(crate) struct Text(String);

impl Text {
    /// Creates a text of one line, without colours.
    pub(crate) fn line(words: impl Display) -> Self {
        let mut text = Text::default();
        text.push(words).end_line();
        text
    }

    /// Adds words to the line.
    pub(crate) fn push(&mut self, words: impl Display) -> &mut Self {
        self.0.push_str(&visible(&words.to_string()));
        self
    }

    /// Adds words in a style.
    pub(crate) fn push_styled(&mut self, style: Style, words: impl Display) -> &mut Self {
        self.0.push_str(&style.render().to_string());
        self.push(words);
        self.0.push_str(&style.render_reset().to_string());
        self
    }

    /// Ends the line.
    pub(crate) fn end_line(&mut self) -> &mut Self {
        self.0.push('\n');
        self
    }

    /// Adds the lines of another text.
    pub(crate) fn append(&mut self, other: &Text) -> &mut Self {
        self.0.push_str(&other.0);
        self
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::style::{BAD, BOLD};

    #[test]
    fn only_the_program_ends_lines_and_sets_colours() {
        let mut text = Text::line("a\nb");
        text.push_styled(BAD, "c\u{1b}[0m\r")
            .push("\u{9b}\u{202e}")
            .end_line();
        assert_eq!(
            text.as_str(),
            format!("a\\nb\n{BAD}c\\u{{1b}}[0m\\r{BAD:#}\\u{{9b}}\\u{{202e}}\n")
        );
        text.append(&Text::line("d"));
        assert_eq!(text.as_str().lines().count(), 3);
        let mut plain = Text::default();
        plain
            .push_styled(BOLD, "")
            .push_styled(anstyle::Style::new(), "x");
        assert!(plain.as_str().ends_with('x') && !plain.is_empty());
    }
}
