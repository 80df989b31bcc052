//! The content that both formats are read into.

use serde_json::Value;

use crate::problem::{Found, Place, Problem};
use crate::tree::{Mark, Tree, inside};

/// The maximum number of values in a text. Each takes some hundred bytes of memory.
pub const MOST_VALUES: usize = 1_000_000;

/// The problem of a text with more values.
pub(crate) fn too_many(place: Place) -> Problem {
    let message = format!("there are more than {MOST_VALUES} values up to here");
    Problem::new(place, "", message)
}

/// The content of a text, in either format.
pub(crate) struct Content {
    pub(crate) value: Value,
    pub(crate) tree: Tree,
    /// The problems of the text that do not stop the reading.
    pub(crate) found: Found,
    /// The first thing that is not part of the values.
    pub(crate) lost: Option<(Place, Lost)>,
}

/// Something in a text that is not part of its document, so that writing the document loses it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lost {
    /// A comment.
    Comment,
    /// An anchor of YAML. The values of its aliases are written out.
    Anchor,
}

/// The problem of a name that occurs twice in the object at a JSON pointer.
pub(crate) fn twice(object: &str, name: &str, first: Mark, second: Mark) -> Problem {
    let pointer = inside(object, name);
    let message = format!("`{name}` stands twice in this object");
    let mut problem = Problem::new(second.place(), pointer, message)
        .help("remove one of them: only one could be read, and the other would be lost");
    problem.notes.push(related("the first one", first.place()));
    problem
}

/// Another place that belongs to a problem, with its meaning.
pub(crate) fn related(what: &str, place: Place) -> String {
    format!("{what} (line {}, column {})", place.line, place.column)
}
