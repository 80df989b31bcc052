//! Colours, which reach terminals only.

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
