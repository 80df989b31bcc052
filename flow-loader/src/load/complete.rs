//! Completes a document from the registry, and reports where the two differ.

use std::collections::HashSet;
use std::sync::Arc;

use flow_spec::document::{ADD, ActionDocument, Schema, types};
use flow_spec::{
    Action, Code, DEFAULT_ACTION, FlowDocument, NodeDocument, TIMEOUT_ACTION, closest, property,
};
use serde_json::Value;

use crate::adapter::{About, Adapter, NodeKind};
use crate::answer::{any_answer, any_signal};
use crate::registry::{Entry, Item, Unfound, name_and_version};

use super::Loader;
use super::only::{forget_unwritten, only_outputs};
use super::types::key;
use super::uses::{Uses, body};

/// The maximum number of nodes of a flow: engines count them in 16 bits.
const MOST_NODES: usize = u16::MAX as usize;

/// Notes which loops, forks and races can fail: those with a part that can.
fn complete_failures(flow: &mut FlowDocument) {
    let fallible = flow.nodes.iter().filter(|node| node.fallible);
    let mut fallible: HashSet<String> = fallible.map(|node| node.id.clone()).collect();
    for node in &mut flow.nodes {
        let times_out = node.settings.timeout.is_some();
        let body_fails = |body| times_out || fallible.contains(body);
        if node.body().is_some_and(body_fails) && !node.settings.collect_errors {
            node.fallible = true;
            fallible.insert(node.id.clone());
        }
    }
    // A loop may be in a branch.
    for node in &mut flow.nodes {
        let mut parts = node.branches().into_iter().flatten();
        node.fallible |= parts.any(|part| fallible.contains(part));
    }
}

impl Loader<'_> {
    /// Refuses flows with too many nodes.
    pub(super) fn count(&mut self, flow: &FlowDocument, pointer: &str) {
        if flow.nodes.len() > MOST_NODES {
            let message = format!("this flow has more than {MOST_NODES} nodes");
            let help = "make flows of some of its parts".to_owned();
            let place = format!("{pointer}/nodes");
            self.problem(Code::Document, place, message, Some(help));
        }
        for (index, node) in flow.nodes.iter().enumerate() {
            if let Some(inner) = &node.internal_flow {
                self.count(inner, &format!("{pointer}/nodes/{index}/internalFlow"));
            }
        }
    }

    /// Completes the nodes of a flow and of the flows in it.
    pub(super) fn complete(&mut self, flow: &mut FlowDocument, pointer: &str) {
        let only = only_outputs(flow);
        let uses = Uses::of(flow);
        let routed = flow.nodes.iter();
        let routed = routed.map(|node| uses.routes(&node.id, TIMEOUT_ACTION));
        let routed: Vec<bool> = routed.collect();
        let bodies = flow.nodes.iter();
        let bodies = bodies.map(|node| body(node).and_then(|id| uses.position(id)));
        let bodies: Vec<Option<usize>> = bodies.collect();
        for (index, node) in flow.nodes.iter_mut().enumerate() {
            let pointer = format!("{pointer}/nodes/{index}");
            if node.is_flow() && !node.params.is_empty() {
                let message = format!("the flow `{}` has no settings", node.r#type);
                let help = "remove `params`: what a flow needs are its inputs".to_owned();
                self.problem(
                    Code::NamesNothing,
                    format!("{pointer}/params"),
                    message,
                    Some(help),
                );
            }
            if let Some(inner) = &mut node.internal_flow {
                self.complete(inner, &format!("{pointer}/internalFlow"));
                let outputs: Vec<String> = inner.outputs.properties.keys().cloned().collect();
                let adds = self.name_only_output(node, outputs, &pointer);
                complete_flow(node);
                if adds {
                    node.outputs.properties.values_mut().for_each(add);
                }
                self.check_retry(node, None, &pointer);
                continue;
            }
            if node.internal_flow_omitted {
                let message = format!("the flow `{}` was left out of the document", node.r#type);
                let help = "export it with all its flows, or register it".to_owned();
                self.unknown.insert(pointer.clone());
                self.problem(Code::Document, pointer, message, Some(help));
                continue;
            }
            let Some(adapter) = self.registered(node, &pointer) else {
                continue;
            };
            self.complete_node(node, &adapter, &pointer, routed[index]);
            // A signal makes no attempts and has no code, whatever the program says of it: the check
            // of documents refuses such settings.
            if node.r#type != types::SIGNAL {
                self.complete_transaction(node, &adapter, &pointer);
                self.check_retry(node, Some(&adapter), &pointer);
            }
            self.adapters.insert(pointer, adapter);
        }
        forget_unwritten(flow, &only);
        for (index, body) in bodies.into_iter().enumerate() {
            match flow.nodes[index].r#type.as_str() {
                types::EACH => {
                    self.complete_each(flow, (index, body), pointer);
                    let adapter =
                        body.and_then(|body| self.adapters.get(&format!("{pointer}/nodes/{body}")));
                    let adapter = adapter.cloned();
                    let pointer = format!("{pointer}/nodes/{index}");
                    self.check_retry_if(&flow.nodes[index], adapter.as_deref(), &pointer);
                    self.check_timeout(&flow.nodes[index], adapter.as_deref(), &pointer);
                }
                types::BRANCH => {
                    let pointer = format!("{pointer}/nodes/{index}");
                    self.complete_branch(&mut flow.nodes[index], &pointer);
                }
                _ => {}
            }
        }
        complete_failures(flow);
    }

    /// Completes a loop over items: it reads the collection, and writes the results of its body.
    fn complete_each(
        &mut self,
        flow: &mut FlowDocument,
        (index, body): (usize, Option<usize>),
        pointer: &str,
    ) {
        let adapter = body.and_then(|body| self.adapters.get(&format!("{pointer}/nodes/{body}")));
        let has_results = match (adapter, body) {
            (Some(adapter), _) => !adapter.returns_nothing,
            (None, Some(body)) => {
                let body = &flow.nodes[body];
                let ends = body.actions.as_ref().map_or(1, Vec::len);
                !body.outputs.is_empty() || ends > 1
            }
            (None, None) => false,
        };
        let body = body.map(|body| &flow.nodes[body]);
        let added = body.and_then(|body| {
            let mut names = body.outputs.properties.keys();
            let name = names.find(|name| body.outputs.adds(name))?;
            Some(key(&body.mappings.outputs, name).to_owned())
        });
        let node = &mut flow.nodes[index];
        let over = node
            .params
            .get("over")
            .and_then(Value::as_str)
            .unwrap_or_default();
        let mut inputs = Schema::default();
        let known = node.inputs.properties.get(over).and_then(Value::as_object);
        inputs.insert(over, known.cloned().unwrap_or_default(), true);
        node.inputs = inputs;
        let listed: Vec<&String> = node.outputs.properties.keys().collect();
        let mismatch = match (&added, &listed[..]) {
            (_, []) => None,
            (Some(key), [only]) if *only == key && node.outputs.adds(key) => None,
            (Some(key), _) => Some(format!(
                "the body of `{}` adds to `{key}`, so there are no results",
                node.id
            )),
            (None, [only]) if !node.outputs.adds(only) => None,
            (None, [_]) => Some(format!(
                "`{}` adds its results, and its body does not say so",
                node.id
            )),
            (None, _) => Some(format!(
                "`{}` has one output, its results, and lists several",
                node.id
            )),
        };
        if let Some(message) = mismatch {
            let help = "remove `outputs`: the program knows them".to_owned();
            let place = format!("{pointer}/nodes/{index}/outputs");
            self.problem(Code::Addition, place, message, Some(help));
        }
        if node.outputs.is_empty() && (has_results || node.settings.collect_errors) {
            let mut property = property("", None);
            if added.is_some() {
                property.insert(ADD.to_owned(), true.into());
            }
            let name = added.as_ref().unwrap_or(&node.id).clone();
            node.outputs.insert(&name, property, true);
        }
        if node.actions.is_none() {
            node.actions = Some(vec![ActionDocument {
                name: DEFAULT_ACTION.to_owned(),
                writes: node.outputs.properties.keys().cloned().collect(),
                may_write: Vec::new(),
            }]);
        }
    }

    /// Sets from the node's code whether it writes in a transaction. Refuses settings that describe
    /// the code if they do not match it.
    fn complete_transaction(&mut self, node: &mut NodeDocument, adapter: &Adapter, pointer: &str) {
        let own = adapter.about.settings();
        let written = &node.settings;
        let settings = [
            ("transaction", written.transaction && !own.transaction),
            ("blocking", written.blocking && !own.blocking),
            ("poll", written.poll.is_some() && own.poll.is_none()),
        ];
        for (setting, _) in settings.into_iter().filter(|(_, differs)| *differs) {
            let message = match setting {
                "transaction" => format!("`{}` does not write in a transaction", node.r#type),
                "blocking" => format!("`{}` does not block", node.r#type),
                _ => format!("`{}` does not poll", node.r#type),
            };
            let help = format!(
                "remove `{setting}`: it says what `#[node({setting})]` does, and does nothing by itself"
            );
            let place = format!("{pointer}/settings/{setting}");
            self.problem(Code::Document, place, message, Some(help));
        }
        node.settings.transaction = own.transaction;
    }

    /// The registered node for a node. `None` if it belongs to the language, or is not registered.
    fn registered(&mut self, node: &NodeDocument, pointer: &str) -> Option<Arc<Adapter>> {
        let (name, place) = match node.r#type.as_str() {
            types::HUMAN => match node.params.get("expects").and_then(Value::as_str) {
                Some(expects) => (expects, "params/expects"),
                None => return Some(Arc::new(any_answer())),
            },
            types::SIGNAL => match node.params.get("expects").and_then(Value::as_str) {
                Some(expects) => (expects, "params/expects"),
                None => return Some(Arc::new(any_signal())),
            },
            name if types::ALL.contains(&name) => return None,
            name => (name, "type"),
        };
        let wanted = match node.r#type.as_str() {
            types::HUMAN => Some(NodeKind::Human),
            types::SIGNAL => Some(NodeKind::Signal),
            _ => None,
        };
        let kind_of = |adapter: &Adapter| Some(adapter.about.kind).filter(is_external);
        let (code, message, help) = match self.registry.find(name) {
            Ok(Entry {
                item: Item::Node(adapter),
                ..
            }) if wanted == kind_of(adapter) => {
                return Some(adapter.clone());
            }
            Ok(Entry { item, .. }) => {
                let found = match item {
                    Item::Node(adapter) => kind_of(adapter),
                    _ => None,
                };
                wrong_kind(name, wanted, found)
            }
            Err(unfound) => self.unfound(name, &unfound),
        };
        self.unknown.insert(pointer.to_owned());
        self.problem(code, format!("{pointer}/{place}"), message, Some(help));
        None
    }

    /// The error for a name that is not found.
    fn unfound(&self, written: &str, unfound: &Unfound<'_>) -> (Code, String, String) {
        let (name, version) = name_and_version(written);
        let version = version.unwrap_or_default();
        match unfound {
            Unfound::Several(paths) => (
                Code::Name,
                format!("several nodes are registered as `{name}`"),
                format!("write the full path: `{}`", paths.join("` or `")),
            ),
            Unfound::Name => (
                Code::UnknownNode,
                format!("no node `{name}` is registered"),
                match closest(name, self.registry.names()) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("register it: `registry![{name}]`"),
                },
            ),
            Unfound::NotAVersion => (
                Code::Malformed,
                format!("`{version}` is not a version"),
                format!("write three numbers, as in `{name}@1.2.0`"),
            ),
            Unfound::Version(versions) => {
                let versions: Vec<String> = versions.iter().map(ToString::to_string).collect();
                let help = match &versions[..] {
                    [] => format!("it is registered without a version: write `{name}`"),
                    versions => format!("there is {}", versions.join(", ")),
                };
                let message = format!("no version {version} of `{name}` is registered");
                (Code::UnknownNode, message, help)
            }
        }
    }

    pub(super) fn complete_node(
        &mut self,
        node: &mut NodeDocument,
        adapter: &Adapter,
        pointer: &str,
        routes_timeout: bool,
    ) {
        let mut inputs = Schema::default();
        match self.prompt(node, pointer) {
            Some(prompt) => {
                for key in prompt.keys() {
                    inputs.insert(key, property("", None), true);
                }
            }
            None => {
                for read in &adapter.reads {
                    let property = property(known(read.rust_type), read.description);
                    inputs.insert(read.name, property, !read.mode.optional());
                }
            }
        }
        self.same_names(
            "reads",
            &mut node.inputs,
            inputs,
            adapter,
            pointer,
            "inputs",
        );
        let names = adapter.writes.iter().map(|write| write.name.to_owned());
        let adds = self.name_only_output(node, names.collect(), pointer);
        let mut outputs = Schema::default();
        for (number, write) in adapter.writes.iter().enumerate() {
            let mut actions = adapter.actions.iter();
            let always = actions.all(|action| {
                let mut names = action
                    .writes
                    .iter()
                    .map(|other| adapter.writes[*other].name);
                action.writes.contains(&number) || names.any(|name| name == write.name)
            });
            let mut property = Value::from(property(known(write.rust_type), None));
            if write.adds || adds {
                add(&mut property);
                let listed = node.outputs.properties.get_mut(write.name);
                if let Some(listed) = listed {
                    if listed.get(ADD) == Some(&false.into()) {
                        let message =
                            format!("`{}` adds what it writes as `{}`", node.r#type, write.name);
                        let place = format!("{pointer}/outputs/properties/{}/{ADD}", write.name);
                        let help = "remove this: the program says it".to_owned();
                        self.problem(Code::Addition, place, message, Some(help));
                    }
                    add(listed);
                }
            }
            if let Value::Object(property) = property {
                outputs.insert(write.name, property, always);
            }
        }
        self.same_names(
            "writes",
            &mut node.outputs,
            outputs,
            adapter,
            pointer,
            "outputs",
        );
        match &node.actions {
            None => complete_actions(node, adapter, routes_timeout),
            Some(listed) => self.same_actions(listed, adapter, pointer),
        }
        complete_shown(node, &adapter.about);
    }

    /// Checks that the document lists the actions of a node.
    fn same_actions(&mut self, listed: &[ActionDocument], adapter: &Adapter, pointer: &str) {
        let names = adapter.actions.iter().map(|action| action.name);
        let missing = names.filter(|name| listed.iter().all(|action| action.name != *name));
        let is_own = |name: &str| adapter.actions.iter().any(|own| own.name == name);
        let listed = listed.iter().map(|action| action.name.as_str());
        let extra = listed.filter(|name| *name != TIMEOUT_ACTION && !is_own(name));
        if let Some(first) = missing.chain(extra).next() {
            let message = format!(
                "the actions of `{}` are not these: the document and the program differ in \"{first}\"",
                adapter.name
            );
            let help = "remove `actions`: the program knows them".to_owned();
            self.unknown.insert(pointer.to_owned());
            let place = format!("{pointer}/actions");
            self.problem(Code::Document, place, message, Some(help));
        }
    }

    /// Adopts the names from the program. Names that the document lists have to be the same.
    fn same_names(
        &mut self,
        verb: &str,
        of_document: &mut Schema,
        of_program: Schema,
        adapter: &Adapter,
        pointer: &str,
        field: &str,
    ) {
        if of_document.properties.is_empty() {
            *of_document = of_program;
            return;
        }
        let of_document_only = |name: &&String| !of_program.properties.contains_key(*name);
        let of_program_only = |name: &&String| !of_document.properties.contains_key(*name);
        let extra = of_document.properties.keys().find(of_document_only);
        let missing = of_program.properties.keys().find(of_program_only);
        let message = match (missing, extra) {
            (Some(name), _) => format!(
                "`{}` {verb} `{name}`, and the document does not say so",
                adapter.name
            ),
            (None, Some(name)) => format!("`{}` has nothing that {verb} `{name}`", adapter.name),
            (None, None) => return,
        };
        let help = format!("remove `{field}`: the program knows them");
        self.unknown.insert(pointer.to_owned());
        self.problem(
            Code::Document,
            format!("{pointer}/{field}"),
            message,
            Some(help),
        );
    }
}

/// Says of a written value that it is added.
fn add(property: &mut Value) {
    if let Value::Object(property) = property {
        property.insert(ADD.to_owned(), true.into());
    }
}

/// Completes a node that is a flow: it reads the inputs of the flow, and writes its outputs. Its
/// actions are the ends.
pub(super) fn complete_flow(node: &mut NodeDocument) {
    let Some(flow) = &node.internal_flow else {
        return;
    };
    if node.description.is_none() {
        node.description = flow.description.clone();
    }
    if node.inputs.is_empty() {
        node.inputs = flow.inputs.clone();
    }
    // A flow that is not sound is reported separately.
    let ends = flow.written_at_ends().unwrap_or_default();
    let names = |end: &Action, optional: bool| {
        let writes = end.writes.iter().filter(|write| write.optional == optional);
        let mut names: Vec<String> = writes.map(|write| write.key.clone()).collect();
        // The same order as in the document of a compiled flow.
        names.sort_by_key(|name| !flow.outputs.requires(name));
        names
    };
    if node.outputs.is_empty() {
        node.outputs = flow.outputs.clone();
        let always = |name: &&String| ends.iter().all(|end| names(end, false).contains(name));
        let outputs = flow.outputs.properties.keys();
        node.outputs.required = outputs.filter(always).cloned().collect();
    }
    if node.actions.is_none() && !ends.is_empty() {
        node.fallible = true;
        let actions = ends.iter().map(|end| ActionDocument {
            name: end.name.clone(),
            writes: names(end, false),
            may_write: names(end, true),
        });
        node.actions = Some(actions.collect());
    }
}

/// Adds the details for viewers that the document leaves out.
fn complete_shown(node: &mut NodeDocument, about: &About) {
    let complete = |shown: &mut Option<String>, own: Option<&str>| {
        if shown.is_none() {
            *shown = own.map(str::to_owned);
        }
    };
    complete(&mut node.description, about.description);
    complete(&mut node.title, about.title);
    complete(&mut node.icon, about.icon);
    complete(&mut node.group, about.group);
    if node.tags.is_empty() {
        node.tags = about.tags.iter().map(|tag| (*tag).to_owned()).collect();
    }
}

/// Adds the actions from the program.
fn complete_actions(node: &mut NodeDocument, adapter: &Adapter, routes_timeout: bool) {
    let limited = node.settings.timeout.is_some();
    let mut listed = actions(adapter);
    node.fallible = adapter.fallible || limited;
    if (adapter.times_out || limited) && routes_timeout {
        node.fallible = adapter.fallible && !adapter.only_times_out;
        listed.push(ActionDocument {
            name: TIMEOUT_ACTION.to_owned(),
            ..ActionDocument::default()
        });
    }
    node.actions = Some(listed);
}

/// The type, or `""` if a part of it is unknown.
fn known(rust_type: &str) -> &str {
    let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
    let mut words = rust_type.split(|letter| !is_word(letter));
    if words.any(|word| word == "_") {
        ""
    } else {
        rust_type
    }
}

/// The actions that a node can take, each with the values that it writes.
fn actions(adapter: &Adapter) -> Vec<ActionDocument> {
    let action = |action: &crate::adapter::ActionType| ActionDocument {
        name: action.name.to_owned(),
        writes: action
            .writes
            .iter()
            .map(|write| adapter.writes[*write].name.to_owned())
            .collect(),
        may_write: Vec::new(),
    };
    adapter.actions.iter().map(action).collect()
}

/// Returns true if the values of a node of this kind come from outside.
fn is_external(kind: &NodeKind) -> bool {
    matches!(kind, NodeKind::Human | NodeKind::Signal)
}

/// The error for a type that comes from outside in another way than the document says, if it does.
fn wrong_kind(
    name: &str,
    wanted: Option<NodeKind>,
    found: Option<NodeKind>,
) -> (Code, String, String) {
    let (message, help) = match (found, wanted) {
        (Some(NodeKind::Signal), _) => (
            format!("`{name}` is a signal"),
            format!("write `flow.signal`, and `\"expects\": \"{name}\"` in its `params`"),
        ),
        (Some(_), _) => (
            format!("`{name}` is a type that people are asked for"),
            format!(
                "write `flow.human`, and `\"expects\": \"{name}\"` beside the `prompt` in its `params`"
            ),
        ),
        (None, Some(NodeKind::Signal)) => (
            format!("`{name}` is not a signal"),
            "name a type that has `#[node(signal)]`".to_owned(),
        ),
        (None, _) => (
            format!("`{name}` is not a type that people are asked for"),
            "name a type that has `#[node(human = …)]`".to_owned(),
        ),
    };
    (Code::Human, message, help)
}
