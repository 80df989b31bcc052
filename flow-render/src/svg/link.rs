//! The input of both layouts, and the size of a board.

use super::board::{Board, Tile, Wire, WireKind};
use super::measure;
use crate::words::ArrowLabel;

/// The space beside and below everything on a board.
pub(super) const MARGIN: (f64, f64) = (16.0, 14.0);

/// An arrow between two tiles that is not placed yet.
pub(super) struct Link {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) label: ArrowLabel,
    /// The [size](label_size) of the label in a picture that goes down.
    pub(super) size: (f64, f64),
    pub(super) kind: WireKind,
    /// The importance of a short and straight arrow.
    pub(super) weight: i32,
}

/// The size of the text at an arrow, with the space around it.
pub(super) fn label_size(label: &ArrowLabel) -> (f64, f64) {
    match measure::block(label.lines(), measure::NOTE) {
        (_, 0.0) => (0.0, 0.0),
        (width, height) => (width + 10.0, height + 4.0),
    }
}

/// A board that is large enough for its content.
pub(super) fn bounded(tiles: Vec<Tile>, wires: Vec<Wire>) -> Board {
    let mut board = Board {
        tiles,
        wires,
        ..Board::default()
    };
    let mut reach = |x: f64, y: f64| {
        board.width = board.width.max(x + MARGIN.0);
        board.height = board.height.max(y + MARGIN.1);
    };
    for tile in &board.tiles {
        reach(
            tile.center.x + tile.width / 2.0,
            tile.center.y + tile.height / 2.0,
        );
    }
    for wire in &board.wires {
        for point in &wire.points {
            reach(point.x, point.y);
        }
        if let Some(label) = &wire.label {
            reach(
                label.center.x + label.width / 2.0,
                label.center.y + label.height / 2.0,
            );
        }
    }
    board
}
