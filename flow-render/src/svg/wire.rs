//! The route of an arrow from box to box.
//!
//! The layout puts boxes and texts into rows, and represents an arrow that passes a row as a point
//! in its middle. Here the arrow runs straight through the whole row and bends only between rows,
//! where it cannot cross anything.

use super::board::{NOTCH, Point, SLANT, Shape, Tile};
use crate::direction::Direction;

/// The smallest distance between an arrow and the corner of a box that it touches.
const CORNER: f64 = 16.0;
/// The part of half a side for that distance, if the side is short.
const SHORT: f64 = 0.64;

/// The rows of a board.
pub(super) struct Rows {
    rows: Vec<Row>,
    direction: Direction,
}

struct Row {
    middle: f64,
    half_height: f64,
}

impl Rows {
    /// The rows, given the centre and the height of everything in them.
    pub(super) fn new(all: impl IntoIterator<Item = (f64, f64)>, direction: Direction) -> Rows {
        let row = |(middle, height)| Row {
            middle,
            half_height: height / 2.0,
        };
        let rows = all.into_iter().map(row).collect();
        Rows { rows, direction }
    }

    /// Half the height of the row with this centre.
    fn half_height(&self, middle: f64) -> f64 {
        let rows = self
            .rows
            .iter()
            .filter(|row| (row.middle - middle).abs() < 1.0);
        rows.map(|row| row.half_height).fold(0.0, f64::max)
    }

    /// The points where a route that goes down, or up, enters and leaves a row.
    fn through(&self, point: Point, down: bool) -> [Point; 2] {
        let half = self.half_height(point.y);
        let half = if down { half } else { -half };
        [point.y - half, point.y + half].map(|y| Point { x: point.x, y })
    }
}

/// The route between two boxes along the points that the layout found. The first and the last point
/// are on the boxes.
pub(super) fn between(from: &Tile, to: &Tile, found: &[Point], rows: &Rows) -> Vec<Point> {
    let down = from.center.y < to.center.y;
    let inner = found
        .get(1..found.len().saturating_sub(1))
        .unwrap_or_default();
    let start = touch(
        from,
        inner.first().copied().unwrap_or(to.center),
        rows.direction,
    );
    let end = touch(
        to,
        inner.last().copied().unwrap_or(from.center),
        rows.direction,
    );
    let row = |tile: &Tile, x| Point {
        x,
        y: tile.center.y,
    };
    let [_, leave] = rows.through(row(from, start.x), down);
    let [enter, _] = rows.through(row(to, end.x), down);
    let mut way = vec![start, leave];
    way.extend(inner.iter().flat_map(|point| rows.through(*point, down)));
    way.extend([enter, end]);
    way.dedup_by(|next, point| (next.x - point.x).hypot(next.y - point.y) < 1.0);
    way
}

/// The point where a route from or to a point touches a box: from above or below, as straight as
/// possible.
fn touch(tile: &Tile, toward: Point, direction: Direction) -> Point {
    let (x, y) = (toward.x - tile.center.x, toward.y - tile.center.y);
    let (half_width, half_height) = (tile.width / 2.0, tile.height / 2.0);
    if tile.shape == Shape::Branch {
        // The point where the line to the centre of a diamond meets its side.
        let reach = (x.abs() / half_width + y.abs() / half_height).max(1.0);
        return Point {
            x: tile.center.x + x / reach,
            y: tile.center.y + y / reach,
        };
    }
    let room = half_width - CORNER.min(SHORT * half_width);
    let x = x.clamp(-room, room);
    Point {
        x: tile.center.x + x,
        y: tile.center.y + side(tile, x, half_height.copysign(y), direction),
    }
}

/// The lower or upper side of a box, at this distance from its middle. It is straight, except for
/// that of a box for a person, a signal or `undo` in a picture that goes to the right.
pub(super) fn side(tile: &Tile, x: f64, y: f64, direction: Direction) -> f64 {
    let part = x / tile.width;
    match tile.shape {
        _ if direction == Direction::TopToBottom => y,
        Shape::Human => y - y.signum() * SLANT * (0.5 + part * y.signum()),
        Shape::Signal if y < 0.0 => y + NOTCH * (1.0 - 2.0 * part.abs()),
        Shape::Undo if y < 0.0 => y + NOTCH * 2.0 * part.abs(),
        _ => y,
    }
}
