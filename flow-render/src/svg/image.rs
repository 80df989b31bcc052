//! The text of an image, line by line. Lengths are rounded, so that rounding errors of sums do not
//! affect it.

use super::board::Point;
use super::measure::LINE;
use crate::xml::escaped;

/// An image that is being written.
pub(super) struct Image {
    text: String,
    /// True if the nodes are buttons.
    pub(super) buttons: bool,
}

impl Image {
    pub(super) fn new((width, height): (f64, f64), title: &str, buttons: bool) -> Image {
        let (width, height) = (number(width), number(height));
        let title = escaped(title);
        let role = if buttons { "group" } else { "img" };
        let text = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"flow-picture\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" role=\"{role}\" aria-label=\"{title}\">\n"
        );
        Image { text, buttons }
    }

    pub(super) fn finish(mut self) -> String {
        self.line("</svg>");
        self.text
    }

    pub(super) fn line(&mut self, line: &str) {
        self.text += line;
        self.text.push('\n');
    }

    pub(super) fn rect(&mut self, class: &str, center: Point, width: f64, height: f64, round: f64) {
        let (x, y) = (center.x - width / 2.0, center.y - height / 2.0);
        let class = match class {
            "" => String::new(),
            class => format!(" class=\"{class}\""),
        };
        self.line(&format!(
            "<rect{class} x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"{}\"/>",
            number(x),
            number(y),
            number(width),
            number(height),
            number(round)
        ));
    }

    pub(super) fn polygon(&mut self, center: Point, corners: &[(f64, f64)]) {
        let corner =
            |(x, y): &(f64, f64)| format!("{},{}", number(center.x + x), number(center.y + y));
        let points: Vec<String> = corners.iter().map(corner).collect();
        self.line(&format!(
            "<polygon class=\"body\" points=\"{}\"/>",
            points.join(" ")
        ));
    }

    /// A line of text centred at `x`, below `top`.
    pub(super) fn words(&mut self, class: &str, x: f64, top: f64, size: f64, text: &str) {
        let baseline = top + size * (LINE + 0.72) / 2.0;
        self.line(&format!(
            "<text class=\"{class}\" x=\"{}\" y=\"{}\" text-anchor=\"middle\" font-size=\"{}\">{}</text>",
            number(x),
            number(baseline),
            number(size),
            escaped(text)
        ));
    }
}

/// A length with at most one decimal.
pub(super) fn number(length: f64) -> String {
    let rounded = (length * 10.0).round() / 10.0;
    // Turns a negative zero into a zero.
    format!("{}", rounded + 0.0)
}
