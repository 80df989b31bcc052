//! Colours, which reach terminals only, and text of others, which must not reach them as it is.

use anstyle::{AnsiColor, Effects, Style};

/// A heading.
pub(crate) const HEADER: Style = AnsiColor::Green.on_default().effects(Effects::BOLD);
/// What is typed as it stands.
pub(crate) const LITERAL: Style = AnsiColor::Cyan.on_default().effects(Effects::BOLD);
/// The word `error`.
pub(crate) const ERROR: Style = AnsiColor::Red.on_default().effects(Effects::BOLD);
/// The word `warning`.
pub(crate) const WARNING: Style = AnsiColor::Yellow.on_default().effects(Effects::BOLD);
/// What is well, or was added.
pub(crate) const GOOD: Style = AnsiColor::Green.on_default();
/// What is wrong, or was removed.
pub(crate) const BAD: Style = AnsiColor::Red.on_default();
/// A name that matters.
pub(crate) const BOLD: Style = Style::new().bold();
/// What matters less.
pub(crate) const DIM: Style = Style::new().dimmed();

/// The text in a style.
pub(crate) fn styled(style: Style, text: impl std::fmt::Display) -> String {
    format!("{style}{text}{style:#}")
}

/// The text without characters that would steer a terminal: flow JSON may come from anywhere.
pub(crate) fn printable(text: &str) -> String {
    let mut printable = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter.is_control() && letter != '\n' {
            true => printable.extend(letter.escape_default()),
            false => printable.push(letter),
        }
    }
    printable
}
