//! The declarations of nodes, and the choice of nodes that need one.

use std::collections::{HashMap, HashSet};

use flow_spec::document::{ONLY_OUTPUT, SettingsDocument, types};
use flow_spec::{FlowDocument, NodeDocument, RESERVED_NAMES, snake_case};
use serde_json::{Map, Value};

use flow_spec::document::__private::inside;

use super::chains::Chains;
use super::rust;
use super::unsaid::Found;

/// The nodes of a flow.
pub(super) struct Nodes<'a> {
    pub(super) flow: &'a FlowDocument,
    pub(super) pointer: String,
    pub(super) by_id: HashMap<&'a str, usize>,
    /// The nodes that are declared.
    declared: HashSet<&'a str>,
    /// The bodies of loops that only their loop names.
    hidden: HashSet<&'a str>,
}

impl<'a> Nodes<'a> {
    pub(super) fn new(flow: &'a FlowDocument, pointer: &str) -> Self {
        let nodes = flow.nodes.iter().enumerate();
        let mut nodes = Nodes {
            flow,
            pointer: pointer.to_owned(),
            by_id: nodes
                .map(|(index, node)| (node.id.as_str(), index))
                .collect(),
            declared: HashSet::new(),
            hidden: HashSet::new(),
        };
        for owner in &flow.nodes {
            if let Some(body) = owner.body().and_then(|body| nodes.node(body)) {
                let hidden = format!("{}-{}", owner.id, snake_case(&path_of(body).1));
                if body.id == hidden {
                    nodes.hidden.insert(&body.id);
                } else {
                    nodes.declared.insert(&body.id);
                }
            }
        }
        let declared = flow.nodes.iter().filter(|node| needs_declaration(node));
        nodes.declared.extend(declared.map(|node| node.id.as_str()));
        nodes.declared.retain(|id| !nodes.hidden.contains(id));
        nodes
    }

    pub(super) fn node(&self, id: &str) -> Option<&'a NodeDocument> {
        self.by_id.get(id).map(|index| &self.flow.nodes[*index])
    }

    /// The pointer of a node.
    pub(super) fn at(&self, node: &NodeDocument) -> String {
        let index = self
            .by_id
            .get(node.id.as_str())
            .copied()
            .unwrap_or_default();
        inside(&inside(&self.pointer, "nodes"), index)
    }

    pub(super) fn is_declared(&self, id: &str) -> bool {
        self.declared.contains(id)
    }

    /// The statements of the flow. Declares more nodes than necessary if the nodes would otherwise
    /// have another order or other names.
    pub(super) fn statements(mut self, unsaid: &mut Found) -> String {
        let before = unsaid.0.len();
        let mut edges = Chains::new(&self).statements(unsaid);
        if edges.order != self.order_of_document() {
            unsaid.0.truncate(before);
            self.declare_up_to_the_last();
            edges = Chains::new(&self).statements(unsaid);
        }
        if edges.order != self.order_of_document() {
            unsaid.0.truncate(before);
            self.declare_all();
            edges = Chains::new(&self).statements(unsaid);
        }
        for (id, name) in &edges.renamed {
            if let Some(node) = self.node(id) {
                let what = match node.r#type.as_str() {
                    types::UNDO => "the step `undo`",
                    types::COMMIT => "the step `commit`",
                    _ => "a pause",
                };
                let message = format!("{what} has no name in `flow!`, and would be `{name}`");
                unsaid.push(inside(&self.at(node), "id"), message);
            }
        }
        let mut text = String::new();
        for node in &self.flow.nodes {
            self.check(node, unsaid);
            if node.r#type != types::BRANCH && self.is_declared(&node.id) {
                text += &self.declaration(node, unsaid);
            }
        }
        for node in &self.flow.nodes {
            if node.r#type == types::BRANCH {
                text += &self.branch(node, unsaid);
            }
        }
        if !text.is_empty() {
            text.push('\n');
        }
        for line in edges.lines {
            text += &format!("{line};\n");
        }
        text
    }

    /// The nodes in the order of the document.
    fn order_of_document(&self) -> Vec<&'a str> {
        self.flow
            .nodes
            .iter()
            .map(|node| node.id.as_str())
            .collect()
    }

    /// The order of the declared nodes. The nodes that edges mention follow them.
    pub(super) fn order_of_declarations(&self) -> Vec<&'a str> {
        let nodes = || self.flow.nodes.iter();
        let is_branch = |node: &&NodeDocument| node.r#type == types::BRANCH;
        let declared = nodes().filter(|node| self.is_declared(&node.id) && !is_branch(node));
        let branches = nodes().filter(is_branch);
        declared
            .chain(branches)
            .map(|node| node.id.as_str())
            .collect()
    }

    /// The order of the nodes that only loops name. They come last.
    pub(super) fn order_of_hidden(&self) -> Vec<&'a str> {
        let bodies = self.flow.nodes.iter().filter_map(NodeDocument::body);
        bodies.filter(|body| self.hidden.contains(body)).collect()
    }

    fn declare_up_to_the_last(&mut self) {
        let nodes = &self.flow.nodes;
        let last = nodes.iter().rposition(|node| self.is_declared(&node.id));
        self.declare(&nodes[..last.unwrap_or_default()]);
    }

    fn declare_all(&mut self) {
        self.declare(&self.flow.nodes);
    }

    fn declare(&mut self, nodes: &'a [NodeDocument]) {
        let nodes = nodes
            .iter()
            .filter(|node| !self.hidden.contains(node.id.as_str()));
        let can_be = |node: &&NodeDocument| word(node).is_none();
        let ids: Vec<&str> = nodes.filter(can_be).map(|node| node.id.as_str()).collect();
        self.declared.extend(ids);
    }

    /// Reports everything about a node that `flow!` cannot express.
    fn check(&self, node: &NodeDocument, unsaid: &mut Found) {
        let at = self.at(node);
        let is_named = word(node).is_none() && !self.hidden.contains(node.id.as_str());
        if is_named && name_of(&node.id).is_none() {
            let message = format!("the id `{}` is not a name of a node in `flow!`", node.id);
            unsaid.push(inside(&at, "id"), message);
        }
        self.check_type_from_outside(node, &at, unsaid);
        let is_own = !types::ALL.contains(&node.r#type.as_str());
        if is_own && rust::path(&node.r#type).is_none() {
            let message = format!("`{}` is not a name in Rust", node.r#type);
            unsaid.push(inside(&at, "type"), message);
        }
        if is_own && !node.params.is_empty() {
            let message = format!("the settings of `{}` are Rust values in a program", node.id);
            unsaid.push(inside(&at, "params"), message);
        }
        let retry = node.settings.retry.as_ref();
        let only_if = retry.and_then(|retry| retry.only_if.as_deref());
        if let Some(path) = only_if.filter(|path| !rust::is_path(path)) {
            let at = inside(&inside(&inside(&at, "settings"), "retry"), "if");
            unsaid.push(at, format!("`{path}` is not a path of a function in Rust"));
        }
        if node.settings.undo.is_some() && !self.is_declared(&node.id) {
            let at = inside(&inside(&at, "settings"), "undo");
            let message = format!("`{}` cannot have an undo node in `flow!`", node.id);
            unsaid.push(at, message);
        }
        if node.settings.was.is_some() && !self.is_declared(&node.id) {
            let at = inside(&inside(&at, "settings"), "was");
            let message = format!("`{}` cannot have a former name in `flow!`", node.id);
            unsaid.push(at, message);
        }
        let has_mappings = is_own || [types::HUMAN, types::SIGNAL].contains(&node.r#type.as_str());
        if !has_mappings && !node.mappings.is_empty() {
            let message = format!("`{}` cannot have mappings in `flow!`", node.id);
            unsaid.push(inside(&at, "mappings"), message);
        }
    }

    /// Reports a question or a signal that may be any JSON, or whose type is not a name: `flow!`
    /// names the type.
    fn check_type_from_outside(&self, node: &NodeDocument, at: &str, unsaid: &mut Found) {
        let what = match node.r#type.as_str() {
            types::HUMAN => "the answer to",
            types::SIGNAL => "the signal of",
            _ => return,
        };
        let params = inside(at, "params");
        let expects = node.params.get("expects").and_then(Value::as_str);
        match expects {
            None => {
                let message = format!(
                    "{what} `{}` may be any JSON, and has a type in `flow!`",
                    node.id
                );
                unsaid.push(params, message);
            }
            Some(expects) if rust::path(expects).is_none() => {
                let message = format!("`{expects}` is not a name in Rust");
                unsaid.push(inside(&params, "expects"), message);
            }
            Some(_) => {}
        }
    }

    /// `node name: …;`
    fn declaration(&self, node: &NodeDocument, unsaid: &mut Found) -> String {
        let name = name_of(&node.id).unwrap_or_default();
        let what = match node.r#type.as_str() {
            types::FORK => Chains::fork(self, node),
            types::FIRST => Chains::race(self, node),
            types::EACH => self.each(node, unsaid),
            types::HUMAN => format!("human {}", self.path_and_mapping(node, unsaid)),
            types::SIGNAL => format!("signal {}", self.path_and_mapping(node, unsaid)),
            _ => self.path_and_mapping(node, unsaid),
        };
        let undo = node
            .settings
            .undo
            .as_deref()
            .map(|undo| self.name_in_settings(undo));
        let settings = settings(undo, &node.settings);
        format!("node {name}: {what}{settings};\n")
    }

    /// An undo node in the settings of another node: its name, or the path of a node that is not
    /// declared.
    fn name_in_settings(&self, id: &str) -> String {
        match self.node(id) {
            Some(node) if !self.is_declared(id) => path_of(node).0,
            _ => name_of(id).unwrap_or_default(),
        }
    }

    /// `for item in key { body }`
    fn each(&self, node: &NodeDocument, unsaid: &mut Found) -> String {
        let mut key = |name: &str| {
            let text = text_param(&node.params, name);
            rust::ident(text).unwrap_or_else(|| {
                let at = inside(&inside(&self.at(node), "params"), name);
                unsaid.push(at, format!("the key `{text}` is not a name in Rust"));
                String::new()
            })
        };
        let (item, over) = (key("item"), key("over"));
        let body = match node.body().and_then(|body| self.node(body)) {
            Some(body) if self.hidden.contains(body.id.as_str()) => {
                self.path_and_mapping(body, unsaid)
            }
            Some(body) => name_of(&body.id).unwrap_or_default(),
            None => String::new(),
        };
        format!("for {item} in {over} {{ {body} }}")
    }

    /// `path { port <- key, port -> key }`
    fn path_and_mapping(&self, node: &NodeDocument, unsaid: &mut Found) -> String {
        let (path, _) = path_of(node);
        let sides = [
            ("inputs", "<-", &node.mappings.inputs),
            ("outputs", "->", &node.mappings.outputs),
        ];
        let mut entries = Vec::new();
        let adds = |side: &str, port: &str| side == "outputs" && node.outputs.adds(port);
        // That a value is added is said here, whether or not the program says it as well.
        let added = node.outputs.properties.keys();
        let added = added.filter(|port| adds("outputs", port));
        let added = added.filter(|port| !node.mappings.outputs.contains_key(*port));
        let added: Map<String, Value> = added
            .map(|port| (port.clone(), port.clone().into()))
            .collect();
        for (side, arrow, names) in sides.into_iter().chain([("outputs", "->", &added)]) {
            for (port, key) in names {
                let key = key.as_str().unwrap_or_default();
                let add = if adds(side, port) { "+" } else { "" };
                match (rust::ident(port), rust::ident(key)) {
                    (Some(port), Some(key)) => entries.push(format!("{port} {arrow} {add}{key}")),
                    _ => {
                        let at = inside(&inside(&self.at(node), "mappings"), side);
                        let message = match port.as_str() {
                            ONLY_OUTPUT => {
                                format!("nothing says what the program calls the value `{key}`")
                            }
                            _ => format!("`{port}` or `{key}` is not a name in Rust"),
                        };
                        unsaid.push(inside(&at, port), message);
                    }
                }
            }
        }
        if entries.is_empty() {
            path
        } else {
            format!("{path} {{ {} }}", entries.join(", "))
        }
    }

    /// `branch name(keys) { condition => "action", else => "action" }`
    fn branch(&self, node: &NodeDocument, unsaid: &mut Found) -> String {
        let at = self.at(node);
        let mut keys = Vec::new();
        for key in node.inputs.properties.keys() {
            match rust::ident(key) {
                Some(key) => keys.push(key),
                None => {
                    let pointer = inside(&inside(&inside(&at, "inputs"), "properties"), key);
                    unsaid.push(pointer, format!("the key `{key}` is not a name in Rust"));
                }
            }
        }
        let mut cases = String::new();
        let written = node.params.get("cases").and_then(Value::as_array);
        for (index, case) in written.into_iter().flatten().enumerate() {
            let text = |name: &str| case.get(name).and_then(Value::as_str).unwrap_or_default();
            let (when, action) = (text("when"), text("action"));
            if !rust::is_condition(when) {
                let case = inside(&inside(&inside(&at, "params"), "cases"), index);
                let message = format!("`{when}` is not a condition in Rust");
                unsaid.push(inside(&case, "when"), message);
            }
            cases += &format!("{when} => {},\n", rust::literal(action));
        }
        format!(
            "branch {}({}) {{\n{cases}else => {},\n}}\n",
            name_of(&node.id).unwrap_or_default(),
            keys.join(", "),
            rust::literal(text_param(&node.params, "otherwise")),
        )
    }
}

/// The name of a node in `flow!`. `None` if it cannot be one.
pub(super) fn name_of(id: &str) -> Option<String> {
    rust::ident(id).filter(|_| !RESERVED_NAMES.contains(&id))
}

/// The path of a node in Rust, and its name without generic arguments.
pub(super) fn path_of(node: &NodeDocument) -> (String, String) {
    let text = match node.r#type.as_str() {
        types::HUMAN | types::SIGNAL => text_param(&node.params, "expects"),
        other => other,
    };
    let path = rust::path(text).map(|(path, name)| (path, name.to_owned()));
    path.unwrap_or_else(|| (text.to_owned(), text.to_owned()))
}

/// The word of a step that edges write without a name: each mention of it is a node of its own.
pub(super) fn word(node: &NodeDocument) -> Option<&'static str> {
    match node.r#type.as_str() {
        types::WAIT => Some("wait"),
        types::UNDO => Some("undo"),
        types::COMMIT => Some("commit"),
        _ => None,
    }
}

/// Returns true if a node has to be declared, because it would otherwise be another one.
fn needs_declaration(node: &NodeDocument) -> bool {
    let settings = &node.settings;
    let has_settings = settings.retry.is_some()
        || settings.timeout.is_some()
        || settings.undo.is_some()
        || settings.was.is_some();
    match node.r#type.as_str() {
        types::BRANCH => false,
        _ if word(node).is_some() => false,
        types::FIRST | types::EACH => true,
        types::FORK => {
            settings.concurrency.is_some()
                || settings.was.is_some()
                || !is_anonymous(&node.id, "fork")
        }
        _ => {
            let (path, name) = path_of(node);
            let is_its_own = snake_case(&name) == node.id && !path.contains('<');
            let mut written = node.outputs.properties.keys();
            let adds = written.any(|name| node.outputs.adds(name));
            !is_its_own || has_settings || adds || !node.mappings.is_empty() || !has_value(node)
        }
    }
}

/// Returns true if a node without a declaration has a value, or needs none.
fn has_value(node: &NodeDocument) -> bool {
    let name = path_of(node).1;
    let is_type = name.starts_with(char::is_uppercase);
    match &node.internal_flow {
        Some(flow) => flow.nodes.iter().all(has_value),
        None => !is_type || types::ALL.contains(&node.r#type.as_str()),
    }
}

/// Returns true for the name of a node without one: `fork`, `fork_2`.
fn is_anonymous(id: &str, word: &str) -> bool {
    let number = id.strip_prefix(word).map(|rest| rest.strip_prefix('_'));
    match number {
        Some(Some(number)) => number.parse::<usize>().is_ok_and(|number| number > 1),
        Some(None) => id == word,
        None => false,
    }
}

/// ` with was = "name", undo = node, retry(…), timeout = "30s"`
fn settings(undo: Option<String>, settings: &SettingsDocument) -> String {
    let mut all = Vec::new();
    let was = settings.was.as_ref();
    all.extend(was.map(|was| format!("was = {}", rust::literal(was))));
    all.extend(undo.map(|undo| format!("undo = {undo}")));
    if let Some(retry) = &settings.retry {
        let texts = [("wait", &retry.wait), ("max_wait", &retry.max_wait)];
        let texts = texts.map(|(name, value)| {
            let value = value.as_ref()?;
            Some(format!("{name} = {}", rust::literal(value)))
        });
        let numbers = [("backoff", retry.backoff), ("jitter", retry.jitter)];
        let numbers = numbers.map(|(name, value)| Some(format!("{name} = {:?}", value?)));
        let [wait, max_wait] = texts;
        let [backoff, jitter] = numbers;
        let attempts = Some(format!("attempts = {}", retry.attempts));
        let only_if = retry.only_if.as_ref().map(|path| format!("if = {path}"));
        let parts = [attempts, wait, backoff, max_wait, jitter, only_if];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        all.push(format!("retry({})", parts.join(", ")));
    }
    let timeout = settings.timeout.as_ref();
    all.extend(timeout.map(|timeout| format!("timeout = {}", rust::literal(timeout))));
    all.extend(
        settings
            .concurrency
            .map(|count| format!("concurrency({count})")),
    );
    all.extend(settings.spread.map(|items| format!("spread({items})")));
    all.extend(settings.collect_errors.then(|| "collect_errors".to_owned()));
    if all.is_empty() {
        String::new()
    } else {
        format!(" with {}", all.join(", "))
    }
}

fn text_param<'p>(params: &'p Map<String, Value>, name: &str) -> &'p str {
    params.get(name).and_then(Value::as_str).unwrap_or_default()
}
