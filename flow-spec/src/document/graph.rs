//! From a document to the graph that the analysis checks, and back to the document's JSON pointers.

use std::collections::HashMap;

use serde_json::{Map, Value};

use crate::analysis::{check, check_types};
use crate::diagnostic::{Code, Diagnostic, Site};
use crate::graph::{
    Action, Branch, DEFAULT_ACTION, Edge, EdgePart, From, Graph, Input, Node, NodeId, NodeKind,
    Output, Read, ReadMode, To, Write,
};
use crate::suggest::did_you_mean;

use super::problem::{Problem, inside};
use super::{ActionDocument, FlowDocument, MappingsDocument, NodeDocument, Schema, types};

impl FlowDocument {
    /// Whether the flow is sound, and every flow inside it: everything that is not.
    ///
    /// It is the analysis that `flow!` makes, and reports the same; types are compared as they are spelled
    /// ([`check_types`]).
    pub fn check(&self) -> Vec<Problem> {
        let mut problems = Vec::new();
        check_level(self, "", &mut Vec::new(), &mut problems);
        problems
    }

    /// The flow itself as a graph, without the flows inside it. Values are borrowed by all who read them: whether they
    /// are moved is a question to Rust code.
    ///
    /// # Errors
    ///
    /// Edges, forks and mappings that name nothing.
    pub fn graph(&self) -> Result<Graph, Vec<Problem>> {
        let mut builder = Builder::new(self, "");
        let graph = builder.graph();
        match builder.problems.is_empty() {
            true => Ok(graph),
            false => Err(builder.problems),
        }
    }
}

fn check_level<'a>(
    flow: &'a FlowDocument,
    pointer: &str,
    around: &mut Vec<&'a str>,
    problems: &mut Vec<Problem>,
) {
    if !flow.namespace.is_empty() && around.contains(&flow.namespace.as_str()) {
        let message = format!(
            "the flow `{}` contains itself: its namespace `{}` is that of a flow around it",
            flow.title(),
            flow.namespace
        );
        problems.push(
            Problem::new(Code::Recursion, inside(pointer, "namespace"), message)
                .help("give each flow the namespace of the node that it is"),
        );
        return;
    }
    let mut builder = Builder::new(flow, pointer);
    let graph = builder.graph();
    if builder.problems.is_empty() {
        let mut found = check_types(&graph);
        if let Err(diagnostics) = check(graph) {
            found.extend(diagnostics);
        }
        found.sort_by_key(|diagnostic| diagnostic.site);
        let located = found
            .into_iter()
            .map(|diagnostic| builder.located(diagnostic));
        problems.extend(located);
    }
    problems.append(&mut builder.problems);
    around.push(&flow.namespace);
    for (index, node) in flow.nodes.iter().enumerate() {
        if let Some(inner) = &node.internal_flow {
            let pointer = inside(&inside(pointer, "nodes"), index);
            check_signature(node, inner, &pointer, problems);
            check_level(inner, &inside(&pointer, "internalFlow"), around, problems);
        }
    }
    around.pop();
}

/// What a node says of itself is what the flow that it is says.
fn check_signature(
    node: &NodeDocument,
    inner: &FlowDocument,
    pointer: &str,
    problems: &mut Vec<Problem>,
) {
    let labels = inner.end_labels();
    let actions = node.actions.as_deref().unwrap_or_default();
    for (index, action) in actions.iter().enumerate() {
        if !labels.contains(&action.name.as_str()) && !inner.ends.is_empty() {
            let message = format!(
                "`{}` has no end \"{}\", so that `{}` never decides so",
                inner.title(),
                action.name,
                node.id
            );
            let pointer = inside(&inside(pointer, "actions"), index);
            let help = did_you_mean(&action.name, labels.iter().copied()).unwrap_or_default();
            problems.push(Problem::new(Code::UnknownAction, pointer, message).help(help));
        }
    }
    for label in labels {
        if node.actions.is_some() && !actions.iter().any(|action| action.name == label) {
            let message = format!(
                "`{}` ends with \"{label}\", which is no action of `{}`",
                inner.title(),
                node.id
            );
            let help = format!("add it: `{{ \"name\": \"{label}\" }}`");
            problems.push(
                Problem::new(Code::UnroutedAction, inside(pointer, "actions"), message).help(help),
            );
        }
    }
    let sides = [
        ("inputs", &node.inputs, &inner.inputs, "takes"),
        ("outputs", &node.outputs, &inner.outputs, "returns"),
    ];
    for (side, of_node, of_flow, verb) in sides {
        for name in of_node.properties.keys() {
            if of_flow.properties.contains_key(name) {
                continue;
            }
            let message = format!("`{}` {verb} no `{name}`", inner.title());
            let pointer = inside(&inside(&inside(pointer, side), "properties"), name);
            let help = did_you_mean(name, of_flow.properties.keys().map(String::as_str));
            let help = help.map(|help| help.replace('"', "`"));
            let mut problem = Problem::new(Code::NamesNothing, pointer, message);
            problem.help = help;
            problems.push(problem);
        }
        let missing = of_flow.properties.keys().filter(|name| {
            !of_node.properties.contains_key(*name) && (side == "outputs" || of_flow.requires(name))
        });
        for name in missing {
            let message = format!(
                "`{}` {verb} `{name}`, which is not among the {side} of `{}`",
                inner.title(),
                node.id
            );
            problems.push(
                Problem::new(Code::NamesNothing, pointer, message)
                    .help(format!("add `{name}` to its `{side}`")),
            );
        }
    }
}

/// Makes the graph, and remembers where each of its parts stands.
struct Builder<'a> {
    flow: &'a FlowDocument,
    pointer: String,
    ids: HashMap<&'a str, NodeId>,
    /// For each edge of the graph, the pointers of its parts: from, action, to.
    edges: Vec<[String; 3]>,
    problems: Vec<Problem>,
}

impl<'a> Builder<'a> {
    fn new(flow: &'a FlowDocument, pointer: &str) -> Self {
        let mut ids = HashMap::new();
        for (index, node) in flow.nodes.iter().enumerate() {
            ids.entry(node.id.as_str()).or_insert(NodeId(index));
        }
        Builder {
            flow,
            pointer: pointer.to_owned(),
            ids,
            edges: Vec::new(),
            problems: Vec::new(),
        }
    }

    fn graph(&mut self) -> Graph {
        let flow = self.flow;
        for (index, node) in flow.nodes.iter().enumerate() {
            if !is_id(&node.id) {
                let message = format!("`{}` cannot name a node", node.id);
                let help =
                    "start with a letter or `_`, and go on with letters, digits, `_` and `-`";
                let pointer = inside(&self.node(index), "id");
                self.problems
                    .push(Problem::new(Code::Malformed, pointer, message).help(help));
            }
        }
        let edges = self.edges();
        let nodes: Vec<Node> = flow
            .nodes
            .iter()
            .enumerate()
            .map(|(index, node)| self.graph_node(index, node))
            .collect();
        let nodes = self.with_edge_mappings(nodes);
        Graph {
            name: flow.title().to_owned(),
            inputs: inputs(&flow.inputs),
            outputs: outputs(&flow.outputs),
            nodes,
            edges,
        }
    }

    fn node(&self, index: usize) -> String {
        inside(&inside(&self.pointer, "nodes"), index)
    }

    /// The node of this id, or a problem.
    fn named(&mut self, id: &str, pointer: &str) -> Option<NodeId> {
        let found = self.ids.get(id).copied();
        if found.is_none() {
            let message = format!("there is no node `{id}`");
            let ids = self.flow.nodes.iter().map(|node| node.id.as_str());
            let mut problem = Problem::new(Code::UnknownNode, pointer, message);
            problem.help = did_you_mean(id, ids).map(|help| help.replace('"', "`"));
            self.problems.push(problem);
        }
        found
    }

    fn edges(&mut self) -> Vec<Edge> {
        let flow = self.flow;
        let mut edges = Vec::new();
        if let Some((pointer, id)) = self.entry()
            && let Some(entry) = self.named(id, &pointer)
        {
            edges.push(Edge {
                from: From::Start,
                action: None,
                to: To::Node(entry),
            });
            self.edges.push([pointer.clone(), pointer.clone(), pointer]);
        }
        for (index, edge) in flow.edges.iter().enumerate() {
            let pointer = inside(&inside(&self.pointer, "edges"), index);
            let from = self.named(&edge.from, &inside(&pointer, "from"));
            let to = self.named(&edge.to, &inside(&pointer, "to"));
            if let (Some(from), Some(to)) = (from, to) {
                edges.push(Edge {
                    from: From::Node(from),
                    action: Some(edge.condition.clone()),
                    to: To::Node(to),
                });
                self.edges
                    .push(["from", "condition", "to"].map(|part| inside(&pointer, part)));
            }
        }
        for (index, end) in flow.ends.iter().enumerate() {
            let pointer = inside(&inside(&self.pointer, "ends"), index);
            let from = match &end.from {
                None => Some(From::Start),
                Some(id) => self.named(id, &inside(&pointer, "from")).map(From::Node),
            };
            if let Some(from) = from {
                edges.push(Edge {
                    from,
                    action: end.condition.clone(),
                    to: To::End(end.label.clone()),
                });
                let parts = match end.from {
                    Some(_) => ["from", "condition", "label"],
                    None => ["label"; 3],
                };
                self.edges.push(parts.map(|part| inside(&pointer, part)));
            }
        }
        for (index, node) in flow.nodes.iter().enumerate() {
            if self.ends_silently(node) {
                edges.push(Edge {
                    from: From::Node(NodeId(index)),
                    action: None,
                    to: To::End(DEFAULT_ACTION.to_owned()),
                });
                self.edges.push([""; 3].map(|_| self.node(index)));
            }
        }
        edges
    }

    /// The entry. A flow with one node needs none.
    fn entry(&self) -> Option<(String, &'a str)> {
        let flow = self.flow;
        match (&flow.entry_node_id, &flow.nodes[..]) {
            (Some(id), _) => Some((inside(&self.pointer, "entryNodeId"), id)),
            (None, [only]) => Some((self.node(0), &only.id)),
            _ => None,
        }
    }

    /// PRD-004 has no ends: there, a node without successors ends the flow. So it does in a document of others, which
    /// has none either, and says of the node no actions.
    fn ends_silently(&self, node: &NodeDocument) -> bool {
        let goes_on = |edge: &super::EdgeDocument| edge.from == node.id;
        self.flow.ends.is_empty()
            && node.actions.is_none()
            && !self.flow.edges.iter().any(goes_on)
            && self.outermost(node)
    }

    /// Whether it stands in no fork and no loop.
    fn outermost(&self, node: &NodeDocument) -> bool {
        !self.flow.nodes.iter().any(|owner| {
            let in_body = owner.params.get("body").and_then(Value::as_str) == Some(&node.id);
            let branches = owner.params.get("branches").and_then(Value::as_array);
            let in_branch = branches
                .into_iter()
                .flatten()
                .filter_map(Value::as_array)
                .flatten()
                .any(|id| id.as_str() == Some(&node.id));
            (owner.r#type == types::EACH && in_body) || (owner.r#type == types::FORK && in_branch)
        })
    }

    fn graph_node(&mut self, index: usize, node: &NodeDocument) -> Node {
        let pointer = self.node(index);
        self.check_mappings(node, &pointer);
        let key = |mappings: &Map<String, Value>, name: &str| {
            let mapped = mappings.get(name).and_then(Value::as_str);
            mapped.unwrap_or(name).to_owned()
        };
        let reads = node
            .inputs
            .values()
            .map(|(name, rust_type, required)| Read {
                key: key(&node.mappings.inputs, name),
                mode: ReadMode::Borrow,
                optional: !required,
                rust_type: rust_type.unwrap_or_default().to_owned(),
            });
        let write = |name: &String, optional: bool| Write {
            key: key(&node.mappings.outputs, name),
            optional,
            rust_type: node.outputs.rust_type(name).unwrap_or_default().to_owned(),
        };
        let reads = reads.collect();
        let mut actions = Vec::new();
        for (at, action) in self.actions(node).into_iter().enumerate() {
            self.check_writes(node, &action, &inside(&inside(&pointer, "actions"), at));
            let always = action.writes.iter().map(|name| write(name, false));
            let maybe = action.may_write.iter().map(|name| write(name, true));
            actions.push(Action {
                name: action.name,
                writes: always.chain(maybe).collect(),
            });
        }
        Node {
            name: node.id.clone(),
            kind: self.kind(node, &pointer),
            reads,
            actions,
            fallible: node.fallible,
        }
    }

    /// Its actions; of a node that does not say them, those that its edges are for.
    fn actions(&self, node: &NodeDocument) -> Vec<ActionDocument> {
        if let Some(actions) = &node.actions {
            return actions.clone();
        }
        let mut names: Vec<&str> = Vec::new();
        let edges = self
            .flow
            .edges
            .iter()
            .filter(|edge| edge.from == node.id)
            .map(|edge| edge.condition.as_str());
        let ends = self
            .flow
            .ends
            .iter()
            .filter(|end| end.from.as_deref() == Some(&node.id))
            .filter_map(|end| end.condition.as_deref());
        for name in edges.chain(ends) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        if names.is_empty() {
            names.push(DEFAULT_ACTION);
        }
        let (writes, may_write) = node
            .outputs
            .properties
            .keys()
            .cloned()
            .partition::<Vec<_>, _>(|name| node.outputs.requires(name));
        let action = |name: &str| ActionDocument {
            name: name.to_owned(),
            writes: writes.clone(),
            may_write: may_write.clone(),
        };
        names.into_iter().map(action).collect()
    }

    fn check_writes(&mut self, node: &NodeDocument, action: &ActionDocument, pointer: &str) {
        for (field, names) in [("writes", &action.writes), ("mayWrite", &action.may_write)] {
            for (index, name) in names.iter().enumerate() {
                if !node.outputs.properties.contains_key(name) {
                    let message = format!(
                        "`{}` writes `{name}` on \"{}\", and has no such output",
                        node.id, action.name
                    );
                    let pointer = inside(&inside(pointer, field), index);
                    self.names_nothing(pointer, message, name, &node.outputs);
                }
            }
        }
    }

    fn check_mappings(&mut self, node: &NodeDocument, pointer: &str) {
        let MappingsDocument { inputs, outputs } = &node.mappings;
        let sides = [
            ("inputs", inputs, &node.inputs, "reads"),
            ("outputs", outputs, &node.outputs, "writes"),
        ];
        for (side, mappings, schema, verb) in sides {
            for name in mappings.keys() {
                if !schema.properties.contains_key(name) {
                    let pointer = inside(&inside(&inside(pointer, "mappings"), side), name);
                    let message = format!("`{}` {verb} no `{name}`", node.id);
                    self.names_nothing(pointer, message, name, schema);
                }
            }
        }
    }

    fn names_nothing(&mut self, pointer: String, message: String, name: &str, schema: &Schema) {
        let mut problem = Problem::new(Code::NamesNothing, pointer, message);
        problem.help = did_you_mean(name, schema.properties.keys().map(String::as_str))
            .map(|help| help.replace('"', "`"));
        self.problems.push(problem);
    }

    /// What a mapping on an edge renames is written under its new name as well, when the edge is taken (D-25).
    fn with_edge_mappings(&mut self, mut nodes: Vec<Node>) -> Vec<Node> {
        for (index, edge) in self.flow.edges.iter().enumerate() {
            let Some(from) = self.ids.get(edge.from.as_str()) else {
                continue;
            };
            let pointer = inside(&inside(&self.pointer, "edges"), index);
            for (source, target) in &edge.mappings {
                let target = target.as_str().unwrap_or_default();
                let actions = nodes[from.0].actions.iter_mut();
                let Some(action) = actions.into_iter().find(|one| one.name == edge.condition)
                else {
                    continue;
                };
                let written = action.writes.iter().find(|write| write.key == *source);
                let Some(written) = written.cloned() else {
                    let message = format!(
                        "`{}` does not write `{source}` on \"{}\"",
                        edge.from, edge.condition
                    );
                    let keys = action.writes.iter().map(|write| write.key.as_str());
                    let pointer = inside(&inside(&pointer, "mappings"), source);
                    let mut problem = Problem::new(Code::NamesNothing, pointer, message);
                    problem.help = did_you_mean(source, keys).map(|help| help.replace('"', "`"));
                    self.problems.push(problem);
                    continue;
                };
                action.writes.push(Write {
                    key: target.to_owned(),
                    ..written
                });
            }
        }
        nodes
    }

    fn kind(&mut self, node: &NodeDocument, pointer: &str) -> NodeKind {
        let params = inside(pointer, "params");
        match node.r#type.as_str() {
            types::FORK => NodeKind::Fork(self.branches(node, &params)),
            types::EACH => {
                let item = self.param(node, "item", &params);
                self.param(node, "over", &params);
                let body = self.param(node, "body", &params);
                let at = inside(&params, "body");
                let body = body.and_then(|body| self.named(&body, &at));
                match (item, body) {
                    (Some(item), Some(body)) => NodeKind::Each { body, item },
                    _ => NodeKind::Step,
                }
            }
            types::BRANCH => {
                self.check_cases(node, &params);
                NodeKind::Branch
            }
            types::WAIT => {
                if let Some(text) = self.param(node, "duration", &params)
                    && humantime::parse_duration(&text).map_or(true, |duration| duration.is_zero())
                {
                    let message = format!("\"{text}\" is no duration to wait for");
                    let pointer = inside(&params, "duration");
                    let help = "write a duration of more than nothing, such as \"5s\"";
                    self.problems
                        .push(Problem::new(Code::Malformed, pointer, message).help(help));
                }
                NodeKind::Wait
            }
            types::HUMAN => NodeKind::Human,
            other if other.starts_with("flow.") => {
                let message = format!("the language has no type `{other}`");
                let mut problem = Problem::new(Code::UnknownNode, inside(pointer, "type"), message);
                problem.help = did_you_mean(other, types::ALL).map(|help| help.replace('"', "`"));
                self.problems.push(problem);
                NodeKind::Step
            }
            other if node.is_flow() => NodeKind::Flow(other.to_owned()),
            _ => NodeKind::Step,
        }
    }

    /// A parameter that is text.
    fn param(&mut self, node: &NodeDocument, name: &str, params: &str) -> Option<String> {
        let value = node.params.get(name).and_then(Value::as_str);
        if value.is_none() {
            let message = format!("a `{}` has to have the text `{name}`", node.r#type);
            self.problems
                .push(Problem::new(Code::Document, params, message));
        }
        value.map(str::to_owned)
    }

    fn branches(&mut self, node: &NodeDocument, params: &str) -> Vec<Branch> {
        let pointer = inside(params, "branches");
        let help = "write a list of lists of ids: `\"branches\": [[\"a\", \"b\"], [\"c\"]]`";
        let Some(branches) = node.params.get("branches").and_then(Value::as_array) else {
            let message = format!("a `{}` has to have `branches`", types::FORK);
            self.problems
                .push(Problem::new(Code::Document, params, message).help(help));
            return Vec::new();
        };
        let mut found = Vec::new();
        for (index, branch) in branches.iter().enumerate() {
            let pointer = inside(&pointer, index);
            let mut chain = Vec::new();
            let ids = branch.as_array().map(Vec::as_slice).unwrap_or_default();
            for (index, id) in ids.iter().enumerate() {
                let pointer = inside(&pointer, index);
                match id.as_str() {
                    Some(id) => chain.extend(self.named(id, &pointer)),
                    None => {
                        let message = "a branch consists of the ids of nodes";
                        self.problems
                            .push(Problem::new(Code::Document, pointer, message).help(help));
                    }
                }
            }
            if ids.is_empty() {
                let message = "a branch of a fork has at least one node";
                self.problems
                    .push(Problem::new(Code::Document, pointer, message).help(help));
            }
            found.push(Branch { chain });
        }
        found
    }

    fn check_cases(&mut self, node: &NodeDocument, params: &str) {
        let text = |value: &Value, name: &str| value.get(name).is_some_and(Value::is_string);
        let cases = node.params.get("cases").and_then(Value::as_array);
        let sound = cases.is_some_and(|cases| {
            cases
                .iter()
                .all(|case| text(case, "when") && text(case, "action"))
        });
        let otherwise = node.params.get("otherwise").is_some_and(Value::is_string);
        if !sound || !otherwise {
            let message = format!("a `{}` has to have `cases` and `otherwise`", types::BRANCH);
            let help = "write `\"cases\": [{ \"when\": \"score > 3\", \"action\": \"high\" }], \
                        \"otherwise\": \"low\"`";
            self.problems
                .push(Problem::new(Code::Document, params, message).help(help));
        }
    }

    /// What the analysis says of the graph, at the place in the document.
    fn located(&self, diagnostic: Diagnostic) -> Problem {
        let pointer = self.place(diagnostic.site);
        let related = diagnostic
            .related
            .iter()
            .map(|(site, what)| format!("note: {what} ({})", self.place(*site)))
            .collect();
        Problem::of(diagnostic, pointer, related)
    }

    fn place(&self, site: Site) -> String {
        let property = |side: &str, schema: &Schema, index: usize| {
            let name = schema.properties.keys().nth(index);
            let properties = inside(&inside(&self.pointer, side), "properties");
            inside(&properties, name.map_or("", String::as_str))
        };
        match site {
            Site::Flow => self.pointer.clone(),
            Site::Input(index) => property("inputs", &self.flow.inputs, index),
            Site::Output(index) => property("outputs", &self.flow.outputs, index),
            Site::Node(NodeId(index)) => self.node(index),
            Site::Edge(index, part) => {
                let parts = self.edges.get(index);
                let part = match part {
                    EdgePart::From => 0,
                    EdgePart::Action => 1,
                    EdgePart::To => 2,
                };
                parts.map_or_else(|| self.pointer.clone(), |parts| parts[part].clone())
            }
        }
    }
}

fn is_id(id: &str) -> bool {
    let mut letters = id.chars();
    let first = letters
        .next()
        .is_some_and(|letter| letter.is_alphabetic() || letter == '_');
    first && letters.all(|letter| letter.is_alphanumeric() || letter == '_' || letter == '-')
}

fn inputs(schema: &Schema) -> Vec<Input> {
    let input = |(name, rust_type, required): (&str, Option<&str>, bool)| Input {
        key: name.to_owned(),
        optional: !required,
        rust_type: rust_type.unwrap_or_default().to_owned(),
    };
    schema.values().map(input).collect()
}

fn outputs(schema: &Schema) -> Vec<Output> {
    let output = |(name, rust_type, required): (&str, Option<&str>, bool)| Output {
        key: name.to_owned(),
        optional: !required,
        rust_type: rust_type.unwrap_or_default().to_owned(),
    };
    schema.values().map(output).collect()
}
