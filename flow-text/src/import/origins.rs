//! The origins of the parts of a document, and its problems in the words of workflows.

use std::collections::HashMap;

use flow_spec::{Code, Problem};

/// The pointers in the text, by the pointers in the document.
#[derive(Debug)]
pub(crate) struct Origins {
    pointers: HashMap<String, String>,
    /// The field of the workflow that has the first values.
    values: &'static str,
}

/// Words in advice that only the author of a document can follow.
const OF_DOCUMENTS: [&str; 7] = [
    "inputs",
    "`required`",
    "`condition`",
    "`edges`",
    "`ends`",
    "`fallible`",
    "`mappings`",
];

impl Origins {
    pub(super) fn new(values: &'static str) -> Self {
        Origins {
            pointers: HashMap::new(),
            values,
        }
    }

    /// Records that a part of the document comes from `origin`.
    pub(super) fn note(&mut self, part: String, origin: String) {
        self.pointers.insert(part, origin);
    }

    /// The pointer in the text of the part at a pointer in the document, or of the part around it.
    pub(crate) fn of(&self, pointer: &str) -> &str {
        let mut rest = Some(pointer);
        while let Some(part) = rest {
            if let Some(origin) = self.pointers.get(part) {
                return origin;
            }
            rest = part.rsplit_once('/').map(|(around, _)| around);
        }
        ""
    }

    /// Turns a problem of the document into one of the text.
    pub(crate) fn problem(&self, mut problem: Problem) -> Problem {
        problem.pointer = self.of(&problem.pointer).to_owned();
        problem.is_name = false;
        for (pointer, _) in &mut problem.related {
            *pointer = self.of(pointer).to_owned();
        }
        let follows = |help: &String| OF_DOCUMENTS.iter().any(|word| help.contains(word));
        if problem.help.as_ref().is_some_and(follows) {
            problem.help = Some(self.advice(problem.code));
        }
        problem
    }

    /// Advice for the author of a workflow on a mistake.
    fn advice(&self, code: Code) -> String {
        let advice = match code {
            Code::UnknownAction | Code::UnroutedAction => {
                "use a node without actions: a workflow knows only success and errors"
            }
            Code::CannotFail => "let the node return a `Result`, or remove this",
            Code::UnassignedRead => {
                let values = self.values;
                return format!(
                    "let an earlier step write it, add it to `{values}`, or let the node read it as an `Option`"
                );
            }
            Code::WriterTypes | Code::ForkConflict => "let one of them write another key",
            _ => "change the workflow, or the node of the program",
        };
        advice.to_owned()
    }
}
