//! The format of a workflow of OpenAgents: that of its draft, or that of its engine.

use flow_spec::document::__private::inside;
use flow_spec::document::Problems;
use flow_spec::{Code, Problem};
use serde_json::Value;

/// A format of the workflows of OpenAgents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::import) enum Version {
    /// The format of the design that came before the engine: `on_success`, `agents`, `cases`.
    Draft,
    /// The format that the engine reads: `next`, `steps`, `condition`.
    Engine,
}

/// The fields of a workflow that only one of the formats has.
const OF_WORKFLOW: Fields = Fields {
    draft: &["context"],
    engine: &super::engine_steps::OF_ENGINE,
};

/// The fields of a step that only one of the formats has.
const OF_STEP: Fields = Fields {
    draft: &["on_success", "retry_delay", "agents", "cases", "default"],
    engine: &[
        "next",
        "retry_delay_ms",
        "timeout_ms",
        "input",
        "steps",
        "min_success",
        "condition",
        "then",
        "else",
        "transform",
    ],
};

/// Fields with different names in the two formats, in either direction.
const PAIRS: [(&str, &str); 4] = [
    ("on_success", "next"),
    ("retry_delay", "retry_delay_ms"),
    ("agents", "steps"),
    ("context", "initial_context"),
];

struct Fields {
    draft: &'static [&'static str],
    engine: &'static [&'static str],
}

impl Fields {
    /// The format to which a field belongs, if it belongs to one alone.
    fn version(&self, field: &str) -> Option<Version> {
        if self.draft.contains(&field) {
            Some(Version::Draft)
        } else {
            self.engine.contains(&field).then_some(Version::Engine)
        }
    }
}

/// A field that only one of the formats has.
struct Clue<'a> {
    field: &'a str,
    pointer: String,
    version: Version,
}

impl Version {
    /// The format of a workflow. If fields of both are mixed, the format with more fields. Without
    /// any, that of the engine.
    pub(in crate::import) fn of(workflow: &Value) -> Version {
        Version::most(&clues(workflow))
    }

    fn most(clues: &[Clue<'_>]) -> Version {
        let of_draft = clues.iter().filter(|clue| clue.version == Version::Draft);
        if of_draft.count() * 2 > clues.len() {
            Version::Draft
        } else {
            Version::Engine
        }
    }

    fn name(self) -> &'static str {
        match self {
            Version::Draft => "draft",
            Version::Engine => "engine",
        }
    }
}

/// Reports the fields of the other format. Returns true without any.
pub(super) fn check(workflow: &Value, problems: &mut Problems) -> bool {
    let clues = clues(workflow);
    let version = Version::most(&clues);
    let Some(own) = clues.iter().find(|clue| clue.version == version) else {
        return true;
    };
    let mut is_clean = true;
    for clue in clues.iter().filter(|clue| clue.version != version) {
        is_clean = false;
        let (name, other) = (version.name(), clue.version.name());
        let message = format!(
            "this workflow has the format of OpenAgents' {name}, and `{}` belongs to that of its {other}",
            clue.field
        );
        let problem = Problem::new(Code::Document, &*clue.pointer, message).of_name();
        let mut problem = problem.help(match twin(clue.field) {
            Some(twin) => format!("write `{twin}`"),
            None => format!("write the whole workflow in the format of the {name}"),
        });
        let why = format!("`{}` is a field of the {name}", own.field);
        problem.related.push((own.pointer.clone(), why));
        problems.push(problem);
    }
    is_clean
}

fn twin(field: &str) -> Option<&'static str> {
    PAIRS.into_iter().find_map(|(draft, engine)| match field {
        _ if field == draft => Some(engine),
        _ if field == engine => Some(draft),
        _ => None,
    })
}

fn clues(workflow: &Value) -> Vec<Clue<'_>> {
    let mut clues = Vec::new();
    add(workflow, "", &OF_WORKFLOW, &mut clues);
    let steps = workflow.get("steps").and_then(Value::as_array);
    for (index, step) in steps.into_iter().flatten().enumerate() {
        add(step, &inside("/steps", index), &OF_STEP, &mut clues);
    }
    clues
}

fn add<'a>(value: &'a Value, pointer: &str, fields: &Fields, clues: &mut Vec<Clue<'a>>) {
    for field in value
        .as_object()
        .into_iter()
        .flatten()
        .map(|(name, _)| name)
    {
        if let Some(version) = fields.version(field) {
            clues.push(Clue {
                field,
                pointer: inside(pointer, field),
                version,
            });
        }
    }
}
