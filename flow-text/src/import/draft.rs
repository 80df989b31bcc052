//! A document that is being built from a workflow.

use flow_spec::document::__private::{composed, inside, wrong};
use flow_spec::document::{EdgeDocument, EndDocument, ONLY_OUTPUT, Problems, types};
use flow_spec::{
    Code, DEFAULT_ACTION, FlowDocument, NodeDocument, Problem, did_you_mean, property,
};
use serde_json::{Map, Value, json};

use super::origins::Origins;

/// The document, and the origins of its parts.
pub(super) struct Draft {
    pub(super) flow: FlowDocument,
    pub(super) origins: Origins,
    /// The parts of the workflow that no document can express, even in another way.
    pub(super) left_out: Vec<Problem>,
}

/// The longest time in a workflow: 31 years.
pub(super) const MOST_MILLISECONDS: u64 = 1_000_000_000_000;

/// The target of an action of a node.
pub(super) struct Route {
    pub(super) action: String,
    /// The id of a node. `None` if the flow ends.
    pub(super) to: Option<String>,
    /// The label of the end, if it leads to one.
    pub(super) label: &'static str,
    /// The pointer of the field that names the target.
    pub(super) pointer: String,
}

impl Draft {
    /// A draft of a workflow whose first values are in this field.
    pub(super) fn new(id: &str, values: &'static str) -> Self {
        Draft {
            flow: FlowDocument::new(id, key(id)),
            origins: Origins::new(values),
            left_out: Vec::new(),
        }
    }

    /// Records that a part of the document comes from `origin`.
    pub(super) fn note(&mut self, part: String, origin: impl Into<String>) {
        self.origins.note(part, origin.into());
    }

    /// Adds an initial value of the workflow, with its name in the form of ids.
    pub(super) fn value(
        &mut self,
        name: &str,
        value: &Value,
        origin: String,
        problems: &mut Problems,
    ) {
        let name = composed(name);
        if self.flow.inputs.properties.contains_key(&*name) {
            let message = format!("a second value has the name `{name}`");
            let problem = Problem::new(Code::Name, origin, message).of_name();
            problems.push(problem.help("give it another name"));
        } else {
            self.input(&name, Some(value), origin);
        }
    }

    /// Adds an input of the flow, which the flow also returns.
    pub(super) fn input(&mut self, name: &str, default: Option<&Value>, origin: String) {
        let mut schema = property("", None);
        if let Some(default) = default {
            schema.insert("default".to_owned(), default.clone());
        }
        self.flow.inputs.insert(name, schema, default.is_none());
        self.flow.outputs.insert(name, property("", None), true);
        for side in ["inputs", "outputs"] {
            self.note(properties(side, name), &*origin);
            self.note(inside(&properties(side, name), "default"), &*origin);
        }
    }

    /// Adds a node that comes from `origin`. Returns its pointer.
    pub(super) fn node(&mut self, node: NodeDocument, origin: &str) -> String {
        let pointer = inside("/nodes", self.flow.nodes.len());
        self.note(pointer.clone(), origin);
        self.flow.nodes.push(node);
        pointer
    }

    /// Makes the last added node write its value under a key, which the flow returns.
    pub(super) fn result(&mut self, key: &str, origin: &str) {
        let Some(node) = self.flow.nodes.last_mut() else {
            unreachable!("the node is added before its result");
        };
        node.outputs.insert(ONLY_OUTPUT, property("", None), true);
        let outputs = &mut node.mappings.outputs;
        outputs.insert(ONLY_OUTPUT.to_owned(), key.into());
        if !self.flow.outputs.properties.contains_key(key) {
            self.flow.outputs.insert(key, property("", None), false);
            self.note(properties("outputs", key), origin);
        }
    }

    /// Adds an edge or an end.
    pub(super) fn route(&mut self, from: &str, route: Route) {
        let (from, condition) = (from.to_owned(), route.action);
        let list = if route.to.is_some() { "edges" } else { "ends" };
        let index = match route.to {
            Some(to) => {
                self.flow.edges.push(EdgeDocument {
                    from,
                    to,
                    condition,
                    mappings: Map::new(),
                });
                self.flow.edges.len() - 1
            }
            None => {
                self.flow.ends.push(EndDocument {
                    from: Some(from),
                    condition: Some(condition),
                    label: route.label.to_owned(),
                    mappings: Map::new(),
                });
                self.flow.ends.len() - 1
            }
        };
        self.note(inside(&inside("", list), index), route.pointer);
    }

    /// Adds the edge or the end after a node without actions.
    pub(super) fn next(&mut self, from: &str, to: Option<String>, pointer: String) {
        self.route(
            from,
            Route {
                action: DEFAULT_ACTION.to_owned(),
                to,
                label: DEFAULT_ACTION,
                pointer,
            },
        );
    }
}

fn properties(side: &str, name: &str) -> String {
    inside(&inside(&inside("", side), "properties"), name)
}

/// A registered node, whose name may end in a version.
pub(super) fn agent(id: &str, agent: &str) -> NodeDocument {
    let (name, version) = agent.split_at(agent.find('@').unwrap_or(agent.len()));
    NodeDocument {
        r#type: key(name) + version,
        id: id.to_owned(),
        ..NodeDocument::default()
    }
}

/// A built-in node.
pub(super) fn built_in(id: &str, r#type: &str, params: Value) -> NodeDocument {
    NodeDocument {
        r#type: r#type.to_owned(),
        id: id.to_owned(),
        params: match params {
            Value::Object(params) => params,
            other => unreachable!("the params of a node are an object: {other}"),
        },
        ..NodeDocument::default()
    }
}

/// A question with this text, in which braces are escaped.
pub(super) fn human(id: &str, message: &str) -> NodeDocument {
    let prompt = message.replace('{', "{{").replace('}', "}}");
    built_in(id, types::HUMAN, json!({ "prompt": prompt }))
}

/// A name in a form that Rust and CEL accept: `code-review` becomes `code_review`.
pub(super) fn key(name: &str) -> String {
    name.replace('-', "_")
}

/// The ids in a list of steps or nodes, including those that cannot be read. A reference to one of
/// these is not another mistake.
pub(super) fn written_ids<'a>(value: &'a Value, list: &str) -> impl Iterator<Item = &'a str> {
    let all = value.get(list).and_then(Value::as_array);
    let ids = all.into_iter().flatten().map(|one| one.get("id"));
    ids.flatten().filter_map(Value::as_str)
}

/// The problem of a step or a node without one of these types.
pub(super) fn no_type(value: &Value, pointer: &str, what: &str, types: &[&str]) -> Problem {
    let at = inside(pointer, "type");
    match value.get("type") {
        _ if !value.is_object() => wrong(pointer, &format!("a {what}"), "an object", value),
        None => {
            let help = format!("say what the {what} is: `{}`", types.join("`, `"));
            Problem::new(Code::Document, pointer, "`type` is missing").help(help)
        }
        Some(Value::String(name)) => {
            let message = format!("there is no type of {what} `{name}`");
            let mut problem = Problem::new(Code::UnknownNode, at, message);
            problem.help = did_you_mean(name, types.iter().copied());
            problem
        }
        Some(other) => wrong(&at, "`type`", "a string", other),
    }
}
