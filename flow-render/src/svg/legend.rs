//! The legend below a picture.

use super::board::{Board, Point, Shape, Tile, Wire};
use super::image::Image;
use super::measure::{self, LINE, NOTE};
use crate::legend::Mark;

/// The size of a sample, and its distance from the text.
const SAMPLE: (f64, f64) = (34.0, 18.0);
const GAP: f64 = 8.0;
/// The distance between two entries, and from the margin.
const SPACE: f64 = 20.0;
/// The height of a row.
const ROW: f64 = 26.0;
/// The minimum width of a legend before its entries start a new row.
const NARROWEST: f64 = 420.0;

/// Marks at their places.
pub(super) struct Legend {
    pub(super) width: f64,
    pub(super) height: f64,
    entries: Vec<Entry>,
}

struct Entry {
    mark: Mark,
    /// The centre of its left side.
    left: Point,
}

impl Legend {
    /// Places the marks beside and below each other, for a picture of this width.
    pub(super) fn new(marks: impl Iterator<Item = Mark>, width: f64) -> Self {
        let widest = width.max(NARROWEST);
        let mut legend = Legend {
            width,
            height: 0.0,
            entries: Vec::new(),
        };
        let mut left = SPACE;
        for mark in marks {
            let needed = sample_width(mark) + GAP + measure::width(mark.meaning(), NOTE);
            if legend.height == 0.0 || left + needed + SPACE > widest {
                left = SPACE;
                legend.height += ROW;
            }
            let y = legend.height - ROW / 2.0;
            let place = Point { x: left, y };
            legend.entries.push(Entry { mark, left: place });
            left += needed + SPACE;
            legend.width = legend.width.max(left);
        }
        if legend.height > 0.0 {
            legend.height += ROW / 2.0;
        }
        legend
    }
}

/// Returns `true` if a board has arrows that lead back.
pub(super) fn has_back(board: &Board) -> bool {
    let inside = |tile: &Tile| tile.inside.as_ref().is_some_and(has_back);
    board.wires.iter().any(|wire: &Wire| wire.back) || board.tiles.iter().any(inside)
}

fn sample_width(mark: Mark) -> f64 {
    match word(mark) {
        Some(word) => measure::width(word, NOTE),
        None => SAMPLE.0,
    }
}

/// The sample of a text at an arrow.
fn word(mark: Mark) -> Option<&'static str> {
    match mark {
        Mark::Action => Some("action"),
        Mark::Condition => Some("condition"),
        Mark::Keys => Some("{keys}"),
        _ => None,
    }
}

fn shape(mark: Mark) -> Option<(Shape, &'static str)> {
    match mark {
        Mark::Step => Some((Shape::Step, "step")),
        Mark::Branch => Some((Shape::Branch, "branch")),
        Mark::Wait => Some((Shape::Wait, "wait")),
        Mark::Human => Some((Shape::Human, "human")),
        Mark::Signal => Some((Shape::Signal, "signal")),
        Mark::Undo => Some((Shape::Undo, "undo")),
        Mark::Commit => Some((Shape::Commit, "commit")),
        Mark::Flow => Some((Shape::Flow, "flow")),
        Mark::Fork => Some((Shape::Fork, "fork")),
        Mark::Race => Some((Shape::Race, "race")),
        Mark::Each => Some((Shape::Each, "each")),
        Mark::Error | Mark::Back | Mark::UndoneBy | Mark::Action | Mark::Condition | Mark::Keys => {
            None
        }
    }
}

impl Image {
    /// Draws the legend below this height.
    pub(super) fn legend(&mut self, legend: &Legend, top: f64) {
        self.line("<g class=\"legend\">");
        for entry in &legend.entries {
            let (x, y) = (entry.left.x, top + entry.left.y);
            let width = sample_width(entry.mark);
            let center = Point {
                x: x + width / 2.0,
                y,
            };
            let text_top = y - NOTE * LINE / 2.0;
            let words = match entry.mark {
                Mark::Action => "action",
                Mark::Keys => "keys",
                _ => "note",
            };
            match (shape(entry.mark), word(entry.mark)) {
                (Some((shape, class)), _) => self.sample(shape, class, center),
                (None, Some(word)) => self.words(words, center.x, text_top, NOTE, word),
                (None, None) => self.sample_arrow(entry.mark, center),
            }
            let meaning = entry.mark.meaning();
            let center = x + width + GAP + measure::width(meaning, NOTE) / 2.0;
            self.words("note", center, text_top, NOTE, meaning);
        }
        self.line("</g>");
    }

    fn sample(&mut self, shape: Shape, class: &str, center: Point) {
        self.line(&format!("<g class=\"{class}\">"));
        self.outline(&Tile {
            center,
            width: SAMPLE.0,
            height: SAMPLE.1,
            shape,
            node: None,
            inside: None,
        });
        self.line("</g>");
    }

    fn sample_arrow(&mut self, mark: Mark, center: Point) {
        let class = match mark {
            Mark::Error => "error",
            Mark::UndoneBy => "undo",
            _ => "back",
        };
        let end = |side: f64| Point {
            x: center.x + side * SAMPLE.0 / 2.0,
            y: center.y,
        };
        if let Some((line, tip)) = super::path::arrow(&[end(-1.0), end(1.0)]) {
            self.line(&format!(
                "<path class=\"sample wire {class}\" d=\"{line}\"/>"
            ));
            self.line(&format!("<path class=\"sample tip {class}\" d=\"{tip}\"/>"));
        }
    }
}
