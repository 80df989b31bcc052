//! What was laid out: boxes and wires at their places. Nothing here is decided, and nothing
//! overlaps.

use crate::words::Caption;

/// Boxes and wires, measured from the upper left corner.
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
    /// Its middle.
    pub(super) center: Point,
    pub(super) width: f64,
    pub(super) height: f64,
    pub(super) shape: Shape,
    /// The path of the node, and its doc comment. Nothing for what is not a node.
    pub(super) node: Option<Label>,
    /// What is drawn inside it, around its middle and below its head.
    pub(super) inside: Option<Board>,
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
    /// With its text.
    End(String),
    /// Where a fork splits, or its branches meet.
    Bar,
    Step,
    Branch,
    Wait,
    Human,
    /// A flow that is shown by its name only; whether there is something to open.
    Closed {
        opens: bool,
    },
    Flow,
    Fork,
    Each,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Point {
    pub(super) x: f64,
    pub(super) y: f64,
}

/// An arrow.
#[derive(Debug)]
pub(super) struct Wire {
    pub(super) points: Vec<Point>,
    pub(super) label: Option<WireLabel>,
    pub(super) error: bool,
    /// It leads back.
    pub(super) back: bool,
}

#[derive(Debug)]
pub(super) struct WireLabel {
    pub(super) center: Point,
    pub(super) width: f64,
    pub(super) height: f64,
    pub(super) lines: Vec<String>,
}
