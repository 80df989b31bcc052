//! The result of the layout: boxes and wires at their final places, without overlaps.

use crate::direction::Direction;
use crate::words::{ArrowLabel, Caption};

/// The horizontal distance between the ends of a side of a box for a person.
pub(super) const SLANT: f64 = 8.0;

/// The depth of the notch in the left side of a box for a signal, and of the tip at the left side of
/// one for `undo`.
pub(super) const NOTCH: f64 = 9.0;

/// The part of a side that is cut off at each corner of a box for `commit`.
pub(super) const CUT: f64 = 5.0;

/// Boxes and wires, with coordinates from the upper left corner.
#[derive(Debug, Default)]
pub(super) struct Board {
    pub(super) width: f64,
    pub(super) height: f64,
    pub(super) tiles: Vec<Tile>,
    pub(super) wires: Vec<Wire>,
}

/// A box.
#[derive(Debug)]
pub(super) struct Tile {
    /// Its centre.
    pub(super) center: Point,
    pub(super) width: f64,
    pub(super) height: f64,
    pub(super) shape: Shape,
    /// The path of the node, and its doc comment. `None` if the box is not a node.
    pub(super) node: Option<Label>,
    /// The content of the box, around its centre and below its head.
    pub(super) inside: Option<Board>,
}

impl Board {
    /// Turns a picture that goes down into one that goes this way.
    pub(super) fn turn(&mut self, direction: Direction) {
        (self.width, self.height) = direction.turned((self.width, self.height));
        for tile in &mut self.tiles {
            tile.turn(direction);
            tile.center.turn(direction);
        }
        for wire in &mut self.wires {
            for point in &mut wire.points {
                point.turn(direction);
            }
            if let Some(label) = &mut wire.label {
                (label.width, label.height) = direction.turned((label.width, label.height));
                label.center.turn(direction);
            }
        }
    }
}

impl Tile {
    /// Turns its size. The content stays as it is.
    pub(super) fn turn(&mut self, direction: Direction) {
        (self.width, self.height) = direction.turned((self.width, self.height));
    }
}

impl Point {
    fn turn(&mut self, direction: Direction) {
        (self.x, self.y) = direction.turned((self.x, self.y));
    }
}

#[derive(Debug)]
pub(super) struct Label {
    pub(super) path: String,
    pub(super) description: Option<String>,
    pub(super) caption: Caption,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Shape {
    Start,
    /// An end, with its text.
    End(String),
    /// The place where branches split or join.
    Bar,
    Step,
    Branch,
    Wait,
    Human,
    Signal,
    Undo,
    Commit,
    /// A flow of which only the name is shown. `opens` is true if there is something to open.
    Closed {
        opens: bool,
    },
    Flow,
    Fork,
    Race,
    Each,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Point {
    pub(super) x: f64,
    pub(super) y: f64,
}

/// What an arrow is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WireKind {
    Action,
    /// The action `error`.
    Error,
    /// It leads from a node to its undo node.
    Undo,
}

/// An arrow.
#[derive(Debug)]
pub(super) struct Wire {
    pub(super) points: Vec<Point>,
    pub(super) label: Option<WireLabel>,
    pub(super) kind: WireKind,
    /// True if it leads back.
    pub(super) back: bool,
}

#[derive(Debug)]
pub(super) struct WireLabel {
    pub(super) center: Point,
    pub(super) width: f64,
    pub(super) height: f64,
    pub(super) label: ArrowLabel,
}
