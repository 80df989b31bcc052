//! Colours, used only on terminals.

use anstyle::{AnsiColor, Effects, Style};

/// A heading.
pub(crate) const HEADER: Style = AnsiColor::Green.on_default().effects(Effects::BOLD);
/// Text to type literally.
pub(crate) const LITERAL: Style = AnsiColor::Cyan.on_default().effects(Effects::BOLD);
/// The word `error`.
pub(crate) const ERROR: Style = AnsiColor::Red.on_default().effects(Effects::BOLD);
/// The word `warning`.
pub(crate) const WARNING: Style = AnsiColor::Yellow.on_default().effects(Effects::BOLD);
/// Something good, or something added.
pub(crate) const GOOD: Style = AnsiColor::Green.on_default();
/// Something wrong, or something removed.
pub(crate) const BAD: Style = AnsiColor::Red.on_default();
/// An important name.
pub(crate) const BOLD: Style = Style::new().bold();
/// Less important text.
pub(crate) const DIM: Style = Style::new().dimmed();
