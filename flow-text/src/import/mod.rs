//! Workflows of other tools, read as the documents of flows. `docs/import.md` has the tables.
//!
//! The hard thing is places: a problem of the resulting document is reported where the author of
//! the workflow wrote it. So the importer records the origin of each part of the document.

mod draft;
mod flow_definition;
mod ids;
mod open_agents;
mod origins;

use std::fmt;

use flow_spec::document::Problems;
use flow_spec::{FlowDocument, Problem};
use serde_json::Value;

use draft::Draft;
pub(crate) use origins::Origins;

/// The format of the flow in a text, in JSON or YAML alike. The fields of the flow determine it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Notation {
    /// The document of a flow.
    Flow,
    /// A workflow of OpenAgents, which has `steps`, in the format of its draft: `on_success`.
    OpenAgents,
    /// A workflow of OpenAgents in the format that its engine reads: `next`.
    OpenAgentsEngine,
    /// A `FlowDefinition` of the AI Agent Flow Framework, which has a `startNode`.
    FlowDefinition,
}

impl Notation {
    fn of(value: &Value) -> Notation {
        let has = |field: &str| value.get(field).is_some();
        if has("steps") && !has("nodes") {
            match open_agents::Version::of(value) {
                open_agents::Version::Draft => Notation::OpenAgents,
                open_agents::Version::Engine => Notation::OpenAgentsEngine,
            }
        } else if has("startNode") {
            Notation::FlowDefinition
        } else {
            Notation::Flow
        }
    }
}

/// Prints the kind of a flow: `a workflow of OpenAgents, in the format of its engine`.
impl fmt::Display for Notation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Notation::Flow => "a flow document",
            Notation::OpenAgents => "a workflow of OpenAgents, in the format of its draft",
            Notation::OpenAgentsEngine => "a workflow of OpenAgents, in the format of its engine",
            Notation::FlowDefinition => "a `FlowDefinition` of the AI Agent Flow Framework",
        })
    }
}

/// A flow that was read from a value.
pub(crate) struct Imported {
    pub(crate) flow: FlowDocument,
    pub(crate) notation: Notation,
    /// The origins of the parts. `None` if the parts are where they were in the value.
    pub(crate) origins: Option<Origins>,
    /// The parts of the value that are not in the document, with their pointers in the value.
    pub(crate) left_out: Vec<Problem>,
}

/// Reads a flow in any notation.
///
/// # Errors
///
/// All problems, with their pointers in the value.
pub(crate) fn import(value: &Value) -> Result<Imported, Vec<Problem>> {
    let notation = Notation::of(value);
    let mut problems = Problems::default();
    let workflow = || ids::with_composed_ids(value);
    let draft = match notation {
        Notation::Flow => {
            return FlowDocument::from_value(value).map(|flow| Imported {
                flow,
                notation,
                origins: None,
                left_out: Vec::new(),
            });
        }
        Notation::OpenAgents | Notation::OpenAgentsEngine => {
            open_agents::read(&workflow(), &mut problems)
        }
        Notation::FlowDefinition => flow_definition::read(&workflow(), &mut problems),
    };
    let Some(Draft {
        flow,
        origins,
        left_out,
    }) = draft.filter(|_| problems.is_empty())
    else {
        return Err(problems.into_vec());
    };
    // Names are judged as in any document.
    let written = serde_json::to_value(&flow).unwrap_or_else(|error| {
        unreachable!("a document consists of strings and JSON values: {error}")
    });
    match FlowDocument::from_value(&written) {
        Ok(flow) => Ok(Imported {
            flow,
            notation,
            origins: Some(origins),
            left_out,
        }),
        Err(problems) => {
            let problems = problems.into_iter();
            Err(problems.map(|one| origins.problem(one)).collect())
        }
    }
}
