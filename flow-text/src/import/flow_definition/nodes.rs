//! The nodes of a definition, as written.

use flow_spec::document::__private::{Object, inside};
use flow_spec::document::{Problems, RetrySettings, SettingsDocument};
use flow_spec::{Code, ERROR_KEY, Problem};
use serde_json::{Map, Value};

use crate::import::draft::{MOST_MILLISECONDS, key, no_type};

const TYPES: [&str; 6] = ["agent", "branch", "parallel", "human", "wait", "loop"];

/// A node.
pub(super) struct Node {
    pub(super) id: String,
    pub(super) pointer: String,
    pub(super) title: Option<String>,
    pub(super) kind: Kind,
    /// The next node. `None` if the flow ends there.
    pub(super) on_success: Option<Reference>,
    /// The next node if it fails. `None` if the flow fails then.
    pub(super) on_error: Option<Reference>,
    /// Its attempts and its timeout.
    pub(super) settings: SettingsDocument,
    /// The keys that its parameters read, if they have other names.
    pub(super) reads: Map<String, Value>,
    /// The key of its result.
    pub(super) key: String,
}

pub(super) enum Kind {
    Agent {
        /// The registered node.
        agent: Reference,
    },
    Branch {
        cases: Vec<(String, Reference)>,
        /// The target if no condition is true. `None` if the flow ends there.
        default: Option<Reference>,
    },
    Parallel {
        children: Vec<Reference>,
        limit: Option<u64>,
    },
    Human {
        message: String,
    },
    Wait {
        duration: Option<String>,
        /// The registered node that polls.
        poll: Option<Reference>,
    },
    Loop {
        body: Reference,
        condition: String,
    },
}

/// The id of a node, and its pointer. The id is empty if it could not be read.
pub(super) struct Reference {
    pub(super) id: String,
    pub(super) pointer: String,
}

impl Node {
    /// The other nodes that it names.
    pub(super) fn references(&self) -> Vec<&Reference> {
        let mut found: Vec<&Reference> = Vec::new();
        match &self.kind {
            Kind::Branch { cases, default } => {
                found.extend(cases.iter().map(|(_, to)| to));
                found.extend(default);
            }
            Kind::Parallel { children, .. } => found.extend(children),
            Kind::Loop { body, .. } => found.push(body),
            Kind::Agent { .. } | Kind::Human { .. } | Kind::Wait { .. } => {}
        }
        found.extend(&self.on_success);
        found.extend(&self.on_error);
        found
    }

    /// The id of the node that polls. A pause before it has the id of the wait.
    pub(super) fn poll_id(&self) -> String {
        match self.kind {
            Kind::Wait {
                duration: Some(_), ..
            } => format!("{}_poll", self.id),
            _ => self.id.clone(),
        }
    }

    /// The ids of the nodes of the document that it becomes, in the order in which they run.
    pub(super) fn made_ids(&self) -> Vec<String> {
        let poll = match &self.kind {
            Kind::Wait {
                duration: Some(_),
                poll: Some(_),
            } => Some(self.poll_id()),
            _ => None,
        };
        [self.id.clone()].into_iter().chain(poll).collect()
    }
}

/// Reads a node.
pub(super) fn node(value: &Value, pointer: &str, problems: &mut Problems) -> Option<Node> {
    let named = value.get("type").and_then(Value::as_str);
    let Some(fields) = fields(named) else {
        problems.push(no_type(value, pointer, "node", &TYPES));
        return None;
    };
    let all: Vec<&'static str> = ["id", "type", "label", "metadata"]
        .into_iter()
        .chain(fields.iter().copied())
        .collect();
    let mut object = Object::of(value, pointer, "a node", &all, problems)?;
    let id = object.required_name("id", "name the node: `\"id\": \"summary\"`");
    object.object("metadata");
    let kind = match named {
        Some("agent") => Kind::Agent {
            agent: match object.name("executeLLM") {
                Some(id) => reference(&object, id, "executeLLM"),
                None => reference(&object, id.clone(), "id"),
            },
        },
        Some("branch") => branch(&mut object),
        Some("parallel") => parallel(&mut object),
        Some("human") => {
            let help = "say what is asked: `\"message\": \"Which one?\"`";
            let message = object.required_name("message", help);
            Kind::Human { message }
        }
        Some("wait") => wait(&mut object),
        _ => looped(&mut object),
    };
    let (on_success, on_error) = (next(&mut object, "onSuccess"), next(&mut object, "onError"));
    let given = object.name("outputAdapter");
    let place = object.at(if given.is_some() {
        "outputAdapter"
    } else {
        "id"
    });
    let key = given.unwrap_or_else(|| key(&id));
    let has_result = matches!(
        kind,
        Kind::Agent { .. } | Kind::Human { .. } | Kind::Wait { .. }
    );
    if has_result && key == ERROR_KEY {
        let message = format!("`{key}` is the error of the node that failed last");
        let problem = Problem::new(Code::Name, place, message);
        object.problems.push(problem.help("choose another name"));
    }
    Some(Node {
        title: object.name("label"),
        kind,
        on_success,
        on_error,
        settings: settings(&mut object),
        reads: object.names_by_name("inputAdapter").unwrap_or_default(),
        key,
        id,
        pointer: pointer.to_owned(),
    })
}

/// The fields of a node of this type, besides those that all nodes have.
fn fields(named: Option<&str>) -> Option<&'static [&'static str]> {
    Some(match named? {
        "agent" => &[
            "executeLLM",
            "onSuccess",
            "onError",
            "maxRetries",
            "retryIf",
            "timeoutMs",
            "inputAdapter",
            "outputAdapter",
        ],
        "branch" => &["cases", "default"],
        "parallel" => &["children", "maxConcurrency", "onSuccess", "onError"],
        "human" => &[
            "message",
            "onSuccess",
            "onError",
            "timeoutMs",
            "outputAdapter",
        ],
        "wait" => &[
            "durationMs",
            "pollCondition",
            "onSuccess",
            "onError",
            "inputAdapter",
            "outputAdapter",
        ],
        "loop" => &["loopNodeId", "continueCondition", "onSuccess"],
        _ => return None,
    })
}

fn reference(object: &Object<'_, '_>, id: String, field: &str) -> Reference {
    Reference {
        id,
        pointer: object.at(field),
    }
}

/// The node that a field names. `None` if the field is missing or null.
fn next(object: &mut Object<'_, '_>, field: &str) -> Option<Reference> {
    let id = object.value(field, "the id of a node, or null", |value| match value {
        Value::Null => Some(None),
        Value::String(id) if !id.is_empty() => Some(Some(id.clone())),
        _ => None,
    });
    id.flatten().map(|id| reference(object, id, field))
}

fn branch(object: &mut Object<'_, '_>) -> Kind {
    let help = "list the conditions: `\"cases\": [{ \"condition\": \"score > 3\", \"targetNode\": \"publish\" }]`";
    object.require("cases", help);
    let cases = object.list("cases", |value, pointer, problems| {
        let fields = ["condition", "targetNode"];
        let mut case = Object::of(value, pointer, "a case", &fields, problems)?;
        let help = "write the condition in CEL: `\"condition\": \"score > 3\"`";
        let condition = case.required_name("condition", help);
        let help = "name the node that is next: `\"targetNode\": \"publish\"`";
        let target = case.required_name("targetNode", help);
        let target = reference(&case, target, "targetNode");
        Some((condition, target))
    });
    let help = "name the node that is next if no condition is true: `\"default\": \"publish\"`, or `null` if \
                the flow ends then";
    object.require("default", help);
    Kind::Branch {
        cases: cases.into_iter().flatten().flatten().collect(),
        default: next(object, "default"),
    }
}

fn parallel(object: &mut Object<'_, '_>) -> Kind {
    let help = "name the nodes that run at the same time: `\"children\": [\"a\", \"b\"]`";
    object.require("children", help);
    let at = object.at("children");
    let children = object.names("children").into_iter().enumerate();
    let children: Vec<Reference> = children
        .map(|(index, id)| Reference {
            id,
            pointer: inside(&at, index),
        })
        .collect();
    Kind::Parallel {
        children,
        limit: object.value("maxConcurrency", "a count of at least 1", |value| {
            value.as_u64().filter(|count| *count > 0)
        }),
    }
}

const MILLISECONDS: &str = "a number of milliseconds, from 1 to 1000000000000";

fn milliseconds(value: &Value) -> Option<String> {
    let allowed = 1..=MOST_MILLISECONDS;
    let count = value.as_u64().filter(|count| allowed.contains(count))?;
    Some(format!("{count}ms"))
}

fn wait(object: &mut Object<'_, '_>) -> Kind {
    let duration = object.value("durationMs", MILLISECONDS, milliseconds);
    let poll = object.name("pollCondition");
    if !object.has("durationMs") && !object.has("pollCondition") {
        let help = "say how long it waits, in milliseconds: `\"durationMs\": 5000`; or name a registered node that \
                    polls: `\"pollCondition\": \"is_ready\"`";
        object.require("durationMs", help);
    }
    Kind::Wait {
        duration,
        poll: poll.map(|id| reference(object, id, "pollCondition")),
    }
}

fn looped(object: &mut Object<'_, '_>) -> Kind {
    let help = "name the node that runs again and again: `\"loopNodeId\": \"improve\"`";
    let body = object.required_name("loopNodeId", help);
    let help = "write the condition in CEL: `\"continueCondition\": \"count < 3\"`";
    Kind::Loop {
        body: reference(object, body, "loopNodeId"),
        condition: object.required_name("continueCondition", help),
    }
}

/// The attempts, which are one more than the retries, and the timeout.
fn settings(object: &mut Object<'_, '_>) -> SettingsDocument {
    let retries = object.value("maxRetries", "a number of retries", |value| {
        u32::try_from(value.as_u64()?).ok()?.checked_add(1)
    });
    let only_if = object.name("retryIf");
    if only_if.is_some() && !object.has("maxRetries") {
        let message = "`retryIf` has no meaning without `maxRetries`";
        let problem = Problem::new(Code::NamesNothing, object.at("retryIf"), message);
        let help = "add `maxRetries`, the number of calls after the first";
        object.problems.push(problem.of_name().help(help));
    }
    let retry = retries
        .filter(|attempts| *attempts > 1)
        .map(|attempts| RetrySettings {
            attempts,
            wait: None,
            backoff: None,
            max_wait: None,
            jitter: None,
            only_if,
        });
    SettingsDocument {
        retry,
        timeout: object.value("timeoutMs", MILLISECONDS, milliseconds),
        ..SettingsDocument::default()
    }
}
