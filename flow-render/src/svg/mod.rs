//! The flow as an SVG image.
//!
//! Arrows that touch a box within a box are hard for a layout. So the layout crate lays out every
//! flow, fork, race and loop separately, the inner ones first; in the outer one, each is a box of
//! known size.

mod board;
mod draw;
mod image;
mod large;
mod layout;
mod legend;
mod link;
mod measure;
mod path;
mod shape;
mod wire;

use flow_spec::document::FlowDocument;

use super::direction::Direction;
use super::legend::Mark;
use super::scene::Scene;
use board::Board;
use legend::Legend;

pub(super) use layout::{Inner, Look};

/// The width of the legend of a page, whose pictures have many widths.
const LEGEND_IN_PAGE: f64 = 640.0;

/// The colours, which follow the reader's preference for light or dark.
pub(super) const STYLE: &str = include_str!("picture.css");

/// Returns an SVG image of the flow and of all its inner flows, on a transparent background, with a
/// legend of its shapes and arrows. Every box has the path of its node as `data-path`, and its doc
/// comment as its title.
///
/// # Examples
///
/// ```
/// # let text = r#"{ "version": "2.0.0", "name": "Qa", "nodes": [{ "type": "answer", "id": "answer" }], "edges": [] }"#;
/// # let flow = flow_spec::FlowDocument::parse(text).unwrap();
/// let picture = flow_render::svg(&flow);
/// assert!(picture.starts_with("<svg xmlns="));
/// assert!(picture.contains(r#"data-path="answer""#));
/// ```
pub fn svg(flow: &FlowDocument) -> String {
    svg_in(flow, Direction::TopToBottom)
}

/// Returns an SVG image in this direction: see [`svg()`].
///
/// # Examples
///
/// ```
/// # let text = r#"{ "version": "2.0.0", "name": "Qa", "nodes": [{ "type": "answer", "id": "answer" }], "edges": [] }"#;
/// # let flow = flow_spec::FlowDocument::parse(text).unwrap();
/// use flow_render::Direction;
///
/// let picture = flow_render::svg_in(&flow, Direction::LeftToRight);
/// assert!(picture.contains(r#"data-path="answer""#));
/// ```
pub fn svg_in(flow: &FlowDocument, direction: Direction) -> String {
    let scene = Scene::new(flow);
    let board = layout::scene(&scene, Look::whole(direction));
    let legend = Legend::new(marks(&scene, &board), board.width);
    draw::whole(&board, &legend, flow.title())
}

/// The legend of a flow's pictures for a page that has [`STYLE`].
pub(super) fn legend(scene: &Scene<'_>, direction: Direction) -> String {
    let board = layout::scene(scene, Look::whole(direction));
    draw::legend(&Legend::new(marks(scene, &board), LEGEND_IN_PAGE))
}

fn marks(scene: &Scene<'_>, board: &Board) -> impl Iterator<Item = Mark> {
    let mut marks = crate::legend::marks(scene);
    if legend::has_back(board) {
        marks.insert(Mark::Back);
    }
    marks.into_iter()
}

/// The picture of a flow for a page that has [`STYLE`]: its nodes are buttons. Its inner flows are
/// either drawn, or closed boxes with a button that opens them.
pub(super) fn part(scene: &Scene<'_>, look: Look) -> String {
    let board = layout::scene(scene, look);
    draw::part(&board, scene.flow.title())
}
