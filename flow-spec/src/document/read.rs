//! From JSON, with everything that is wrong at once, each at its JSON pointer.

use serde_json::{Map, Value};

use crate::diagnostic::Code;
use crate::suggest::did_you_mean;

use super::problem::{Problem, inside};
use super::{
    ActionDocument, EdgeDocument, EndDocument, FlowDocument, MappingsDocument, NodeDocument,
    PollSettings, RetrySettings, Schema, SettingsDocument, VERSION,
};

/// Flows nest as deep as their authors nest them; what nests deeper is no flow, and would overflow the stack.
const DEEPEST: usize = 64;

impl FlowDocument {
    /// Reads a document. Whether the flow is sound is another question: see [`check`](FlowDocument::check).
    ///
    /// # Errors
    ///
    /// Everything that is wrong with its shape: that it is no JSON, fields that are missing, unknown or of the wrong
    /// type, and a version that this crate does not know.
    pub fn parse(text: &str) -> Result<FlowDocument, Vec<Problem>> {
        let value: Value = serde_json::from_str(text)
            .map_err(|error| vec![Problem::new(Code::Document, "", no_json(&error))])?;
        FlowDocument::from_value(&value)
    }

    /// As [`parse`](FlowDocument::parse), of JSON that is read already.
    ///
    /// # Errors
    ///
    /// As [`parse`](FlowDocument::parse).
    pub fn from_value(value: &Value) -> Result<FlowDocument, Vec<Problem>> {
        let mut problems = Vec::new();
        let flow = flow(value, "", 0, &mut problems);
        match flow {
            Some(flow) if problems.is_empty() => Ok(flow),
            _ => Err(problems),
        }
    }
}

fn no_json(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let what = text.split(" at line ").next().unwrap_or(&text);
    format!(
        "this is not JSON: {what} (line {}, column {})",
        error.line(),
        error.column()
    )
}

/// An object that is being read: whatever field is not asked for is unknown.
struct Object<'a, 'p> {
    map: &'a Map<String, Value>,
    pointer: String,
    known: Vec<&'static str>,
    problems: &'p mut Vec<Problem>,
}

impl<'a, 'p> Object<'a, 'p> {
    fn of(
        value: &'a Value,
        pointer: &str,
        what: &str,
        problems: &'p mut Vec<Problem>,
    ) -> Option<Self> {
        let Value::Object(map) = value else {
            problems.push(wrong(pointer, what, "an object", value));
            return None;
        };
        let pointer = pointer.to_owned();
        Some(Object {
            map,
            pointer,
            known: Vec::new(),
            problems,
        })
    }

    fn optional(&mut self, name: &'static str) -> Option<&'a Value> {
        self.known.push(name);
        self.map.get(name)
    }

    fn required(&mut self, name: &'static str, why: &str) -> Option<&'a Value> {
        let value = self.optional(name);
        if value.is_none() {
            let message = format!("`{name}` is missing");
            self.problems
                .push(Problem::new(Code::Document, &self.pointer, message).help(why));
        }
        value
    }

    /// The value as this type, or nothing and a problem.
    fn typed<T>(
        &mut self,
        name: &str,
        value: Option<&'a Value>,
        expected: &str,
        read: impl FnOnce(&'a Value) -> Option<T>,
    ) -> Option<T> {
        let value = value?;
        let read = read(value);
        if read.is_none() {
            self.problems.push(wrong(
                &inside(&self.pointer, name),
                &format!("`{name}`"),
                expected,
                value,
            ));
        }
        read
    }

    fn text(&mut self, name: &'static str) -> Option<String> {
        let value = self.optional(name);
        self.typed(name, value, "a string", text)
    }

    fn required_text(&mut self, name: &'static str, why: &str) -> String {
        let value = self.required(name, why);
        self.typed(name, value, "a string", text)
            .unwrap_or_default()
    }

    fn flag(&mut self, name: &'static str) -> bool {
        let value = self.optional(name);
        self.typed(name, value, "true or false", Value::as_bool)
            .unwrap_or_default()
    }

    fn object(&mut self, name: &'static str) -> Option<&'a Map<String, Value>> {
        let value = self.optional(name);
        self.typed(name, value, "an object", Value::as_object)
    }

    /// Names and names: an object whose values are strings.
    fn names(&mut self, name: &'static str) -> Option<Map<String, Value>> {
        let map = self.object(name)?;
        let pointer = inside(&self.pointer, name);
        for (key, value) in map {
            if !value.is_string() {
                self.problems.push(wrong(
                    &inside(&pointer, key),
                    &format!("`{key}`"),
                    "a string",
                    value,
                ));
            }
        }
        Some(map.clone())
    }

    fn list(&mut self, name: &'static str, value: Option<&'a Value>) -> &'a [Value] {
        self.typed(name, value, "a list", Value::as_array)
            .map_or(&[], Vec::as_slice)
    }

    fn texts(&mut self, name: &'static str) -> Vec<String> {
        let value = self.optional(name);
        let list = self.list(name, value);
        let pointer = inside(&self.pointer, name);
        let mut texts = Vec::new();
        for (index, value) in list.iter().enumerate() {
            match value {
                Value::String(text) => texts.push(text.clone()),
                _ => {
                    let what = format!("an item of `{name}`");
                    self.problems
                        .push(wrong(&inside(&pointer, index), &what, "a string", value));
                }
            }
        }
        texts
    }

    /// A value that is read by a function of its own.
    fn part<T>(
        &mut self,
        name: &'static str,
        read: impl FnOnce(&'a Value, &str, &mut Vec<Problem>) -> T,
    ) -> Option<T> {
        let value = self.optional(name)?;
        Some(read(value, &inside(&self.pointer, name), self.problems))
    }

    /// A list whose items are read by a function of their own.
    fn parts<T>(
        &mut self,
        name: &'static str,
        value: Option<&'a Value>,
        mut read: impl FnMut(&'a Value, &str, &mut Vec<Problem>) -> Option<T>,
    ) -> Vec<T> {
        let list = self.list(name, value);
        let pointer = inside(&self.pointer, name);
        let items = list.iter().enumerate();
        items
            .filter_map(|(index, item)| read(item, &inside(&pointer, index), self.problems))
            .collect()
    }

    /// Reports the fields that nobody asked for.
    fn finish(self) {
        for name in self.map.keys() {
            if self.known.contains(&name.as_str()) {
                continue;
            }
            let problem = Problem::new(
                Code::Document,
                inside(&self.pointer, name),
                format!("there is no field `{name}` here"),
            );
            let help = did_you_mean(name, self.known.iter().copied()).unwrap_or_default();
            self.problems.push(problem.help(help.replace('"', "`")));
        }
    }
}

fn text(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

fn wrong(pointer: &str, what: &str, expected: &str, found: &Value) -> Problem {
    let found = match found {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    };
    Problem::new(
        Code::Document,
        pointer,
        format!("{what} is {found}, and should be {expected}"),
    )
}

fn flow(
    value: &Value,
    pointer: &str,
    depth: usize,
    problems: &mut Vec<Problem>,
) -> Option<FlowDocument> {
    if depth > DEEPEST {
        let message = format!("flows nest deeper than {DEEPEST} levels");
        problems.push(Problem::new(Code::Document, pointer, message));
        return None;
    }
    let mut object = Object::of(value, pointer, "a flow", problems)?;
    let version = object.required_text("version", "write `\"version\": \"2.0.0\"`");
    if !version.is_empty() && version != VERSION {
        let message =
            format!("the format has the version {version}, and this program reads {VERSION}");
        let problem = Problem::new(Code::Document, inside(pointer, "version"), message);
        object
            .problems
            .push(problem.help("export the flow again, or use a version of this program for it"));
    }
    let flow = FlowDocument {
        version,
        namespace: object.text("namespace").unwrap_or_default(),
        name: object.text("name").unwrap_or_default(),
        description: object.text("description"),
        inputs: object.part("inputs", schema).unwrap_or_default(),
        outputs: object.part("outputs", schema).unwrap_or_default(),
        nodes: {
            let value = object.required(
                "nodes",
                "list the flow's nodes, each with `type` and `id`: `\"nodes\": [ … ]`",
            );
            object.parts("nodes", value, |value, pointer, problems| {
                node(value, pointer, depth, problems)
            })
        },
        edges: {
            let value = object.required(
                "edges",
                "list the flow's edges, each with `from`, `to` and `condition`: `\"edges\": [ … ]`",
            );
            object.parts("edges", value, edge)
        },
        ends: {
            let value = object.optional("ends");
            object.parts("ends", value, end)
        },
        entry_node_id: object.text("entryNodeId"),
        dependencies: object.names("dependencies"),
    };
    object.finish();
    Some(flow)
}

fn node(
    value: &Value,
    pointer: &str,
    depth: usize,
    problems: &mut Vec<Problem>,
) -> Option<NodeDocument> {
    let mut object = Object::of(value, pointer, "a node", problems)?;
    let node = NodeDocument {
        r#type: object.required_text(
            "type",
            "name the function, type or flow that the node is: `\"type\": \"review\"`",
        ),
        id: object.required_text("id", "name the node: `\"id\": \"review\"`"),
        description: object.text("description"),
        params: object.object("params").cloned().unwrap_or_default(),
        params_omitted: object.texts("paramsOmitted"),
        settings: object.part("settings", settings).unwrap_or_default(),
        inputs: object.part("inputs", schema).unwrap_or_default(),
        outputs: object.part("outputs", schema).unwrap_or_default(),
        actions: {
            let value = object.optional("actions");
            value.map(|value| object.parts("actions", Some(value), action))
        },
        fallible: object.flag("fallible"),
        mappings: object.part("mappings", mappings).unwrap_or_default(),
        dependencies: object.texts("dependencies"),
        internal_flow: object
            .part("internalFlow", |value, pointer, problems| {
                flow(value, pointer, depth + 1, problems)
            })
            .flatten()
            .map(Box::new),
        internal_flow_omitted: object.flag("internalFlowOmitted"),
    };
    if node.internal_flow_omitted && node.internal_flow.is_some() {
        let message = "`internalFlowOmitted` is true, and there is an `internalFlow`";
        let problem = Problem::new(
            Code::Document,
            inside(pointer, "internalFlowOmitted"),
            message,
        );
        object.problems.push(problem.help("remove one of them"));
    }
    object.finish();
    Some(node)
}

fn action(value: &Value, pointer: &str, problems: &mut Vec<Problem>) -> Option<ActionDocument> {
    let mut object = Object::of(value, pointer, "an action", problems)?;
    let action = ActionDocument {
        name: object.required_text("name", "name the action: `\"name\": \"default\"`"),
        writes: object.texts("writes"),
        may_write: object.texts("mayWrite"),
    };
    object.finish();
    Some(action)
}

fn mappings(value: &Value, pointer: &str, problems: &mut Vec<Problem>) -> MappingsDocument {
    let Some(mut object) = Object::of(value, pointer, "`mappings`", problems) else {
        return MappingsDocument::default();
    };
    let mappings = MappingsDocument {
        inputs: object.names("inputs").unwrap_or_default(),
        outputs: object.names("outputs").unwrap_or_default(),
    };
    object.finish();
    mappings
}

fn edge(value: &Value, pointer: &str, problems: &mut Vec<Problem>) -> Option<EdgeDocument> {
    let mut object = Object::of(value, pointer, "an edge", problems)?;
    let edge = EdgeDocument {
        from: object.required_text("from", "name the node that the edge starts from"),
        to: object.required_text("to", "name the node that the edge leads to"),
        condition: object.required_text(
            "condition",
            "name the action that the edge is for: `\"condition\": \"default\"`",
        ),
        mappings: object.names("mappings").unwrap_or_default(),
    };
    object.finish();
    Some(edge)
}

fn end(value: &Value, pointer: &str, problems: &mut Vec<Problem>) -> Option<EndDocument> {
    let mut object = Object::of(value, pointer, "an end", problems)?;
    let end = EndDocument {
        from: object.text("from"),
        condition: object.text("condition"),
        label: object.required_text("label", "name the end: `\"label\": \"default\"`"),
    };
    if end.from.is_some() && end.condition.is_none() && !object.map.contains_key("condition") {
        let help = "name the action that ends the flow: `\"condition\": \"default\"`";
        object.required("condition", help);
    }
    object.finish();
    Some(end)
}

fn settings(value: &Value, pointer: &str, problems: &mut Vec<Problem>) -> SettingsDocument {
    let Some(mut object) = Object::of(value, pointer, "`settings`", problems) else {
        return SettingsDocument::default();
    };
    let settings = SettingsDocument {
        retry: object.part("retry", retry).flatten(),
        timeout: duration(&mut object, "timeout"),
        poll: object.part("poll", poll).flatten(),
        concurrency: {
            let value = object.optional("concurrency");
            object.typed("concurrency", value, "a count of at least 1", count)
        },
        blocking: object.flag("blocking"),
        collect_errors: object.flag("collectErrors"),
    };
    object.finish();
    settings
}

fn retry(value: &Value, pointer: &str, problems: &mut Vec<Problem>) -> Option<RetrySettings> {
    let mut object = Object::of(value, pointer, "`retry`", problems)?;
    let attempts = object.required("attempts", "say how many there are, the first included");
    let number =
        |object: &mut Object<'_, '_>, name: &'static str, expected: &str, least: f64, most: f64| {
            let value = object.optional(name);
            let within = |value: &Value| {
                value
                    .as_f64()
                    .filter(|number| (least..=most).contains(number))
            };
            object.typed(name, value, expected, within)
        };
    let retry = RetrySettings {
        attempts: object
            .typed("attempts", attempts, "a count of at least 1", |value| {
                u32::try_from(count(value)?).ok()
            })
            .unwrap_or(1),
        wait: duration(&mut object, "wait"),
        backoff: number(
            &mut object,
            "backoff",
            "a number of at least 1",
            1.0,
            f64::MAX,
        ),
        max_wait: duration(&mut object, "maxWait"),
        jitter: number(&mut object, "jitter", "a number from 0 to 1", 0.0, 1.0),
    };
    object.finish();
    Some(retry)
}

fn poll(value: &Value, pointer: &str, problems: &mut Vec<Problem>) -> Option<PollSettings> {
    let mut object = Object::of(value, pointer, "`poll`", problems)?;
    let every = object.required("every", "say how long to wait before asking again");
    let poll = PollSettings {
        every: object
            .typed("every", every, DURATION, duration_text)
            .unwrap_or_default(),
        timeout: duration(&mut object, "timeout"),
    };
    object.finish();
    Some(poll)
}

fn count(value: &Value) -> Option<u64> {
    value.as_u64().filter(|count| *count > 0)
}

const DURATION: &str = "a duration of more than nothing, such as \"200ms\" or \"1m 30s\"";

fn duration(object: &mut Object<'_, '_>, name: &'static str) -> Option<String> {
    let value = object.optional(name);
    object.typed(name, value, DURATION, duration_text)
}

fn duration_text(value: &Value) -> Option<String> {
    let text = value.as_str()?;
    let duration = humantime::parse_duration(text).ok()?;
    (!duration.is_zero()).then(|| text.to_owned())
}

fn schema(value: &Value, pointer: &str, problems: &mut Vec<Problem>) -> Schema {
    let Some(mut object) = Object::of(value, pointer, "a JSON Schema", problems) else {
        return Schema::default();
    };
    let kind = object.text("type");
    if kind.as_ref().is_some_and(|kind| kind != "object") {
        let message = "the values that are read or written are the properties of an object";
        let problem = Problem::new(Code::Document, inside(pointer, "type"), message);
        object
            .problems
            .push(problem.help("write `\"type\": \"object\"`"));
    }
    let properties = object.object("properties").cloned().unwrap_or_default();
    for (name, property) in &properties {
        if !property.is_object() {
            let pointer = inside(&inside(pointer, "properties"), name);
            object.problems.push(wrong(
                &pointer,
                &format!("the schema of `{name}`"),
                "an object",
                property,
            ));
        }
    }
    let required = object.texts("required");
    for (index, name) in required.iter().enumerate() {
        if !properties.contains_key(name) {
            let message = format!("`{name}` is required, and is none of the properties");
            let problem = Problem::new(
                Code::NamesNothing,
                inside(&inside(pointer, "required"), index),
                message,
            );
            let help = did_you_mean(name, properties.keys().map(String::as_str));
            let help = help.unwrap_or_else(|| "add it to `properties`".to_owned());
            object.problems.push(problem.help(help.replace('"', "`")));
        }
    }
    let keywords = object
        .map
        .iter()
        .filter(|(name, _)| !object.known.contains(&name.as_str()))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    Schema {
        properties,
        required,
        keywords,
    }
}
