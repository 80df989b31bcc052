//! The line of an arrow and its tip.

use super::board::Point;
use super::image::number;

/// The radius of the corners of a line.
const BEND: f64 = 14.0;
/// The length and half the width of a tip.
const TIP: (f64, f64) = (9.0, 4.0);

/// The line through these points with round corners, up to its tip, and the tip. `None` for fewer
/// than two points.
pub(super) fn arrow(points: &[Point]) -> Option<(String, String)> {
    let [.., before, end] = points else {
        return None;
    };
    let back = direction(*end, *before);
    let neck = along(*end, back, TIP.0);
    let side = Point {
        x: -back.y,
        y: back.x,
    };
    let (left, right) = (along(neck, side, TIP.1), along(neck, side, -TIP.1));
    let tip = format!("M{} L{} L{} Z", at(*end), at(left), at(right));
    let mut through: Vec<Point> = points.to_vec();
    if let Some(last) = through.last_mut() {
        *last = along(*end, back, TIP.0 - 1.0);
    }
    Some((rounded(&through), tip))
}

fn rounded(points: &[Point]) -> String {
    let mut line = String::new();
    for (index, point) in points.iter().enumerate() {
        line += &match points
            .get(..index)
            .and_then(<[Point]>::last)
            .zip(points.get(index + 1))
        {
            Some((before, after)) => {
                let into = along(*point, direction(*point, *before), bend(*point, *before));
                let out = along(*point, direction(*point, *after), bend(*point, *after));
                format!(" L{} Q{} {}", at(into), at(*point), at(out))
            }
            None if index == 0 => format!("M{}", at(*point)),
            None => format!(" L{}", at(*point)),
        };
    }
    line
}

/// The part of a straight line that a corner takes: at most half, because the other half belongs to
/// the corner at the other end.
fn bend(from: Point, to: Point) -> f64 {
    (distance(from, to) / 2.0).min(BEND)
}

fn distance(from: Point, to: Point) -> f64 {
    (to.x - from.x).hypot(to.y - from.y)
}

/// A direction of length 1. It points down if the points are the same.
fn direction(from: Point, to: Point) -> Point {
    let distance = distance(from, to);
    if distance > 0.0 {
        Point {
            x: (to.x - from.x) / distance,
            y: (to.y - from.y) / distance,
        }
    } else {
        Point { x: 0.0, y: 1.0 }
    }
}

fn along(from: Point, direction: Point, length: f64) -> Point {
    Point {
        x: from.x + direction.x * length,
        y: from.y + direction.y * length,
    }
}

fn at(point: Point) -> String {
    format!("{} {}", number(point.x), number(point.y))
}
