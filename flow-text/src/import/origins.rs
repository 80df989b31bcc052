//! Where the parts of a document come from.

use std::collections::HashMap;

use flow_spec::Problem;

/// The pointers in the text, by the pointers in the document.
#[derive(Debug, Default)]
pub(crate) struct Origins(HashMap<String, String>);

impl Origins {
    /// Notes that a part of the document comes from there.
    pub(super) fn note(&mut self, part: String, origin: String) {
        self.0.insert(part, origin);
    }

    /// The pointer in the text of what is at a pointer in the document, or around it.
    pub(crate) fn of(&self, pointer: &str) -> &str {
        let mut rest = Some(pointer);
        while let Some(part) = rest {
            if let Some(origin) = self.0.get(part) {
                return origin;
            }
            rest = part.rsplit_once('/').map(|(around, _)| around);
        }
        ""
    }

    /// A problem of the document as one of the text.
    pub(crate) fn problem(&self, mut problem: Problem) -> Problem {
        problem.pointer = self.of(&problem.pointer).to_owned();
        problem.is_name = false;
        for (pointer, _) in &mut problem.related {
            *pointer = self.of(pointer).to_owned();
        }
        problem
    }
}
