//! The size of texts.
//!
//! There is no font to measure. Texts are set in a monospaced font, so all letters are equally wide
//! in any such font.

use unicode_segmentation::UnicodeSegmentation as _;
use unicode_width::UnicodeWidthStr as _;

/// The width of a letter for a font size of 1. It is 0.6 in nearly all such fonts, and never larger
/// than this.
const ADVANCE: f64 = 0.61;

/// The font size of the name of a node.
pub(super) const NAME: f64 = 13.0;
/// The font size of everything else.
pub(super) const NOTE: f64 = 11.0;
/// The height of a line, for a font size of 1.
pub(super) const LINE: f64 = 1.4;

/// The width of a text in this font size. A visible letter, such as an emoji that is joined from
/// several, is at most two columns wide.
pub(super) fn width(text: &str, size: f64) -> f64 {
    let columns = text.graphemes(true).map(|letter| letter.width().min(2));
    let columns = u32::try_from(columns.sum::<usize>()).unwrap_or(u32::MAX);
    f64::from(columns) * ADVANCE * size
}

/// The size of several lines, one below the other.
pub(super) fn block<'a>(lines: impl Iterator<Item = &'a str>, size: f64) -> (f64, f64) {
    let mut block = (0.0_f64, 0.0);
    for line in lines {
        block.0 = block.0.max(width(line, size));
        block.1 += size * LINE;
    }
    block
}
