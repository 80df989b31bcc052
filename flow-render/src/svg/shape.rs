//! The shape of a node, and the size that it needs for its texts.

use flow_spec::document::types;

use super::board::{Board, Label, Point, Shape, Tile};
use super::layout::{self, Inner, Look};
use super::measure::{self, LINE, NAME, NOTE};
use crate::direction::Direction;
use crate::scene::{Inside, Member};
use crate::words::{self, Caption};

/// The space between a text and its box.
const PADDING: f64 = 12.0;
/// The distance by which the copies behind a loop over items stick out.
pub(super) const STACK: f64 = 8.0;
/// The space for the sign that opens a flow.
pub(super) const SIGN: f64 = 20.0;

const NOWHERE: Point = Point { x: 0.0, y: 0.0 };

/// The tile of a node that is not placed yet.
pub(super) fn member(member: &Member<'_>, look: Look) -> Tile {
    let caption = Caption::of(member.node);
    let (text_width, text_height) = text(&caption);
    let (shape, inside) = match (&member.inside, look.inner) {
        (Inside::Nothing, _) => (single(member), None),
        (Inside::Flow(_), Inner::Closed) => (Shape::Closed { opens: true }, None),
        (Inside::Flow(scene), Inner::Shown) => (Shape::Flow, Some(layout::scene(scene, look))),
        (Inside::Fork(branches), _) => {
            let is_race = member.is_race();
            let shape = if is_race { Shape::Race } else { Shape::Fork };
            (shape, Some(layout::fork(branches, look)))
        }
        (Inside::Each(body), _) => (Shape::Each, Some(layout::each(body, look))),
    };
    let (width, height) = match (&shape, &inside) {
        (_, Some(board)) => around(board, &caption, &shape),
        // The largest box within a diamond is half as wide and half as high.
        (Shape::Branch, _) => (
            text_width * 1.5 + 4.0 * PADDING,
            text_height * 2.0 + PADDING,
        ),
        (Shape::Wait | Shape::Human | Shape::Signal | Shape::Undo | Shape::Commit, _) => {
            (text_width + 3.0 * PADDING, text_height + PADDING)
        }
        (Shape::Closed { opens: true }, _) => {
            (text_width + 2.0 * PADDING + SIGN, text_height + PADDING)
        }
        _ => (text_width + 2.0 * PADDING, text_height + PADDING),
    };
    Tile {
        center: NOWHERE,
        width: width.max(72.0),
        height,
        shape,
        node: Some(Label {
            path: member.path.clone(),
            description: member.node.description.clone(),
            caption,
        }),
        inside,
    }
}

fn single(member: &Member<'_>) -> Shape {
    match member.node.r#type.as_str() {
        types::BRANCH => Shape::Branch,
        types::WAIT => Shape::Wait,
        types::HUMAN => Shape::Human,
        types::SIGNAL => Shape::Signal,
        types::UNDO => Shape::Undo,
        types::COMMIT => Shape::Commit,
        _ if member.node.is_flow() => Shape::Closed { opens: false },
        _ => Shape::Step,
    }
}

/// The size of a box around a board, with its name in the head.
fn around(board: &Board, caption: &Caption, shape: &Shape) -> (f64, f64) {
    let (text_width, _) = text(caption);
    let mut width = board.width.max(text_width + 2.0 * PADDING);
    let mut height = board.height + head(caption);
    if *shape == Shape::Each {
        width += STACK;
        height += STACK;
    }
    (width, height)
}

/// The height of the head of a box with content.
pub(super) fn head(caption: &Caption) -> f64 {
    text(caption).1 + PADDING
}

/// The size of a caption: the name in large letters, the rest in small ones.
pub(super) fn text(caption: &Caption) -> (f64, f64) {
    let mut width: f64 = 0.0;
    let mut height = 0.0;
    for (index, line) in caption.lines().enumerate() {
        let size = if index == 0 { NAME } else { NOTE };
        width = width.max(measure::width(line, size));
        height += size * LINE;
    }
    (width, height)
}

/// The tile of the start.
pub(super) fn start() -> Tile {
    plain(
        Shape::Start,
        measure::width("start", NOTE) + 2.0 * PADDING,
        22.0,
    )
}

/// The tile of an end.
pub(super) fn end(label: &str) -> Tile {
    let label = words::end(label);
    let width = measure::width(&label, NOTE) + 2.5 * PADDING;
    plain(Shape::End(label), width, 26.0)
}

/// The bar where branches split or join, as long as they are wide.
pub(super) fn bar(length: f64, direction: Direction) -> Tile {
    let (width, height) = direction.turned((length, 5.0));
    plain(Shape::Bar, width, height)
}

fn plain(shape: Shape, width: f64, height: f64) -> Tile {
    Tile {
        center: NOWHERE,
        width,
        height,
        shape,
        node: None,
        inside: None,
    }
}
