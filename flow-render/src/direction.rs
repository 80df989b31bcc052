//! The direction of a picture.

/// The direction in which the arrows of a picture lead.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Direction {
    /// From top to bottom.
    #[default]
    TopToBottom,
    /// From left to right.
    LeftToRight,
}

impl Direction {
    /// The name in Mermaid and in DOT.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Direction::TopToBottom => "TB",
            Direction::LeftToRight => "LR",
        }
    }

    /// Turns a width and a height between a picture that goes down and one that goes this way.
    pub(crate) fn turned<T>(self, (width, height): (T, T)) -> (T, T) {
        match self {
            Direction::TopToBottom => (width, height),
            Direction::LeftToRight => (height, width),
        }
    }
}
