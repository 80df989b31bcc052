//! Draws a board as SVG.

use super::board::{
    Board, CUT, Label, NOTCH, Point, SLANT, Shape, Tile, Wire, WireKind, WireLabel,
};
use super::image::{Image, number};
use super::legend::Legend;
use super::measure::{self, LINE, NAME, NOTE};
use super::{STYLE, path, shape};
use crate::xml::escaped;

/// A whole image, with a legend below the board.
pub(super) fn whole(board: &Board, legend: &Legend, title: &str) -> String {
    let size = (legend.width.max(board.width), board.height + legend.height);
    let mut image = Image::new(size, title, false);
    image.line(&format!("<style>\n{STYLE}</style>"));
    image.board(board);
    image.legend(legend, board.height);
    image.finish()
}

/// An image in a page that contains the style, in which nodes are buttons.
pub(super) fn part(board: &Board, title: &str) -> String {
    let mut image = Image::new((board.width, board.height), title, true);
    image.board(board);
    image.finish()
}

/// A legend as a separate image, in a page that contains the style.
pub(super) fn legend(legend: &Legend) -> String {
    let mut image = Image::new((legend.width, legend.height), "legend", false);
    image.legend(legend, 0.0);
    image.finish()
}

impl Image {
    /// Draws the wires below the boxes, and their texts above everything.
    fn board(&mut self, board: &Board) {
        for wire in &board.wires {
            self.wire(wire);
        }
        for tile in &board.tiles {
            self.tile(tile);
        }
        for label in board.wires.iter().filter_map(|wire| wire.label.as_ref()) {
            self.wire_label(label);
        }
    }

    fn wire(&mut self, wire: &Wire) {
        let mut class = "wire".to_owned();
        class += match wire.kind {
            WireKind::Action => "",
            WireKind::Error => " error",
            WireKind::Undo => " undo",
        };
        if wire.back {
            class += " back";
        }
        let Some((line, tip)) = path::arrow(&wire.points) else {
            return;
        };
        self.line(&format!("<path class=\"{class}\" d=\"{line}\"/>"));
        self.line(&format!("<path class=\"tip {class}\" d=\"{tip}\"/>"));
    }

    fn wire_label(&mut self, label: &WireLabel) {
        let WireLabel {
            center,
            width,
            height,
            label,
        } = label;
        self.line("<g class=\"label\">");
        self.rect("", *center, *width, *height, 4.0);
        let (_, height) = measure::block(label.lines(), NOTE);
        let mut top = center.y - height / 2.0;
        let lines = [
            ("action", &label.action),
            ("note", &label.condition),
            ("keys", &label.keys),
        ];
        for (class, line) in lines {
            if let Some(line) = line {
                self.words(class, center.x, top, NOTE, line);
                top += NOTE * LINE;
            }
        }
        self.line("</g>");
    }

    fn tile(&mut self, tile: &Tile) {
        let class = class(&tile.shape);
        match &tile.node {
            Some(label) => {
                let path = escaped(&label.path);
                let button = if self.buttons {
                    format!(" role=\"button\" tabindex=\"0\" aria-label=\"{path}\"")
                } else {
                    String::new()
                };
                self.line(&format!(
                    "<g class=\"tile {class}\" data-path=\"{path}\"{button}>"
                ));
                let title = label.description.as_ref().unwrap_or(&label.path);
                self.line(&format!("<title>{}</title>", escaped(title)));
            }
            None => self.line(&format!("<g class=\"tile {class}\">")),
        }
        self.outline(tile);
        self.caption(tile);
        // The nodes inside are separate elements.
        self.line("</g>");
        if let (Some(inside), Some(label)) = (&tile.inside, &tile.node) {
            let stack = if tile.shape == Shape::Each {
                shape::STACK
            } else {
                0.0
            };
            let left = tile.center.x - (inside.width + stack) / 2.0;
            let top = tile.center.y - tile.height / 2.0 + shape::head(&label.caption);
            let (left, top) = (number(left), number(top));
            self.line(&format!("<g transform=\"translate({left} {top})\">"));
            self.board(inside);
            self.line("</g>");
        }
        if let (Shape::Closed { opens: true }, Some(label), true) =
            (&tile.shape, &tile.node, self.buttons)
        {
            self.opener(tile, label);
        }
    }

    pub(super) fn outline(&mut self, tile: &Tile) {
        let Tile {
            center,
            width,
            height,
            ..
        } = *tile;
        match &tile.shape {
            Shape::Start => self.rect("body", center, width, height, height / 2.0),
            Shape::End(_) => {
                self.rect("body", center, width, height, height / 2.0);
                let (width, height) = (width - 6.0, height - 6.0);
                self.rect("inner", center, width, height, height / 2.0);
            }
            Shape::Bar => self.rect("body", center, width, height, 2.0),
            Shape::Wait => self.rect("body", center, width, height, height / 2.0),
            Shape::Branch => {
                let (x, y) = (width / 2.0, height / 2.0);
                let corners = [(0.0, -y), (x, 0.0), (0.0, y), (-x, 0.0)];
                self.polygon(center, &corners);
            }
            Shape::Human => {
                let (x, y, slant) = (width / 2.0, height / 2.0, SLANT);
                let corners = [(slant - x, -y), (x, -y), (x - slant, y), (-x, y)];
                self.polygon(center, &corners);
            }
            Shape::Signal => {
                let (x, y) = (width / 2.0, height / 2.0);
                let corners = [(-x, -y), (x, -y), (x, y), (-x, y), (NOTCH - x, 0.0)];
                self.polygon(center, &corners);
            }
            Shape::Undo => {
                let (x, y) = (width / 2.0, height / 2.0);
                let left = NOTCH - x;
                let corners = [(-x, 0.0), (left, -y), (x, -y), (x, y), (left, y)];
                self.polygon(center, &corners);
            }
            Shape::Commit => {
                let (x, y) = (width / 2.0, height / 2.0);
                let (inner_x, inner_y) = (x - CUT, y - CUT);
                let right = [(inner_x, -y), (x, -inner_y), (x, inner_y), (inner_x, y)];
                let left = right.map(|(x, y)| (-x, -y));
                self.polygon(center, &[right, left].concat());
            }
            Shape::Each => {
                let (width, height) = (width - shape::STACK, height - shape::STACK);
                for shift in [0.5, 0.0, -0.5] {
                    let center = Point {
                        x: center.x + shift * shape::STACK,
                        y: center.y + shift * shape::STACK,
                    };
                    self.rect("body", center, width, height, 8.0);
                }
            }
            Shape::Closed { .. } => {
                self.rect("body", center, width, height, 6.0);
                self.rect("inner", center, width - 6.0, height - 6.0, 4.0);
            }
            Shape::Step | Shape::Flow | Shape::Fork | Shape::Race => {
                self.rect("body", center, width, height, 8.0);
            }
        }
    }

    fn caption(&mut self, tile: &Tile) {
        let Point { x, y } = tile.center;
        let note = |image: &mut Image, text: &str| {
            image.words("note", x, y - NOTE * LINE / 2.0, NOTE, text);
        };
        let Some(label) = &tile.node else {
            match &tile.shape {
                Shape::Start => note(self, "start"),
                Shape::End(label) => note(self, label),
                _ => {}
            }
            return;
        };
        let (_, height) = shape::text(&label.caption);
        let mut top = match tile.inside {
            Some(_) => y - tile.height / 2.0 + (shape::head(&label.caption) - height) / 2.0,
            None => y - height / 2.0,
        };
        let x = match tile.shape {
            Shape::Closed { opens: true } => x + shape::SIGN / 2.0,
            Shape::Each => x - shape::STACK / 2.0,
            _ => x,
        };
        for (index, line) in label.caption.lines().enumerate() {
            let (class, size) = if index == 0 {
                ("name", NAME)
            } else {
                ("note", NOTE)
            };
            self.words(class, x, top, size, line);
            top += size * LINE;
        }
    }

    /// The sign that opens and closes a flow.
    fn opener(&mut self, tile: &Tile, label: &Label) {
        let x = tile.center.x - tile.width / 2.0 + shape::SIGN / 2.0 + 6.0;
        let y = tile.center.y;
        let path = escaped(&label.path);
        self.line(&format!(
            "<g class=\"opener\" role=\"button\" tabindex=\"0\" aria-expanded=\"false\" aria-label=\"open {path}\" \
             data-open=\"{path}\">"
        ));
        self.rect("", Point { x, y }, shape::SIGN, shape::SIGN, 4.0);
        self.words("sign", x, y - NOTE * LINE / 2.0, NOTE, "▶");
        self.line("</g>");
    }
}

fn class(shape: &Shape) -> &'static str {
    match shape {
        Shape::Start => "start",
        Shape::End(_) => "end",
        Shape::Bar => "bar",
        Shape::Step => "step",
        Shape::Branch => "branch",
        Shape::Wait => "wait",
        Shape::Human => "human",
        Shape::Signal => "signal",
        Shape::Undo => "undo",
        Shape::Commit => "commit",
        Shape::Closed { .. } => "closed",
        Shape::Flow => "flow",
        Shape::Fork => "fork",
        Shape::Race => "race",
        Shape::Each => "each",
    }
}
