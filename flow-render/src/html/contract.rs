//! The contract of a node: its inputs, outputs and actions.

use std::collections::{HashMap, HashSet};

use flow_spec::document::{EdgeDocument, EndDocument, FlowDocument, NodeDocument, Schema};
use flow_spec::{DEFAULT_ACTION, ERROR_ACTION, node_path};
use maud::{Markup, html};
use serde_json::{Map, Value};

use super::facts;
use super::text::Text;
use crate::words;

/// An article for the flow and for each node at any level. The first one is shown.
pub(super) fn contracts(flow: &FlowDocument) -> Markup {
    html! {
        (of_flow(flow))
        (of_nodes(flow, ""))
    }
}

fn of_flow(flow: &FlowDocument) -> Markup {
    html! {
        "\n"
        article data-contract="" {
            h2 { (Text(flow.title())) }
            @if !flow.namespace.is_empty() {
                p class="type" { (Text(&flow.namespace)) }
            }
            (description(flow.description.as_deref()))
            (values("Inputs", &flow.inputs, &Map::new()))
            (values("Outputs", &flow.outputs, &Map::new()))
            @if !flow.ends.is_empty() {
                h3 { "Ends" }
                ul {
                    @for label in flow.end_labels() {
                        li { code { (Text(&words::end(label))) } }
                    }
                }
            }
        }
    }
}

/// The nodes before each node of a flow, and the edges after it, by id.
#[derive(Default)]
struct Ways<'a> {
    before: HashMap<&'a str, Vec<&'a str>>,
    edges: HashMap<&'a str, Vec<&'a EdgeDocument>>,
    ends: HashMap<&'a str, Vec<&'a EndDocument>>,
    owners: HashMap<&'a str, &'a NodeDocument>,
    /// The undo nodes, each with the nodes that it takes back.
    taken_back: HashMap<&'a str, Vec<&'a NodeDocument>>,
}

impl<'a> Ways<'a> {
    fn of(flow: &'a FlowDocument) -> Self {
        let mut ways = Ways {
            owners: flow.owners(),
            taken_back: flow.undo_nodes(),
            ..Ways::default()
        };
        let mut seen = HashSet::new();
        for step in flow.steps() {
            if seen.insert((step.from, step.to)) {
                ways.before.entry(step.to).or_default().push(step.from);
            }
        }
        for edge in &flow.edges {
            ways.edges.entry(&edge.from).or_default().push(edge);
        }
        for end in &flow.ends {
            if let Some(from) = &end.from {
                ways.ends.entry(from).or_default().push(end);
            }
        }
        ways
    }

    fn edges(&self, node: &NodeDocument) -> impl Iterator<Item = &'a EdgeDocument> {
        let edges = self.edges.get(&*node.id).into_iter();
        edges.flatten().copied()
    }

    fn ends(&self, node: &NodeDocument) -> impl Iterator<Item = &'a EndDocument> {
        let ends = self.ends.get(&*node.id).into_iter();
        ends.flatten().copied()
    }
}

fn of_nodes(flow: &FlowDocument, around: &str) -> Markup {
    let ways = Ways::of(flow);
    html! {
        @for node in &flow.nodes {
            @let path = node_path(around, &node.id);
            (of_node(&ways, node, around, &path))
            @if let Some(inner) = &node.internal_flow { (of_nodes(inner, &path)) }
        }
    }
}

fn of_node(ways: &Ways<'_>, node: &NodeDocument, around: &str, path: &str) -> Markup {
    let at = Text(path);
    html! {
        "\n"
        article data-contract=(at) hidden {
            h2 { (Text(node.title.as_ref().unwrap_or(&node.id))) }
            p class="type" { (Text(&node.r#type)) (badges(node)) }
            @if node.title.is_some() && path == node.id {
                p class="path" { (at) }
            }
            @if path != node.id {
                p class="path" { (at) }
            }
            (description(node.description.as_deref()))
            @if node.internal_flow.is_some() {
                p { button type="button" data-reveal=(at) { "show what is inside" } }
            }
            (before(ways, node, around))
            (values("Inputs", &node.inputs, &node.mappings.inputs))
            (values("Outputs", &node.outputs, &node.mappings.outputs))
            (actions(ways, node, around))
            (facts::settings(&node.settings))
            (facts::params(node))
        }
    }
}

/// The nodes that run before this node, or that it takes back.
fn before(ways: &Ways<'_>, node: &NodeDocument, around: &str) -> Markup {
    html! {
        @if let Some(before) = ways.before.get(&*node.id) {
            p { "after " (listed(before.iter().map(|id| pick(around, id)))) }
        }
        @if let Some(nodes) = ways.taken_back.get(&*node.id) {
            p { "takes back " (listed(nodes.iter().map(|node| pick(around, &node.id)))) }
        }
    }
}

fn badges(node: &NodeDocument) -> Markup {
    let badges = [
        (node.internal_flow.is_some(), "flow"),
        (node.internal_flow_omitted, "flow, left out of this export"),
        (node.fallible, "can fail"),
    ];
    html! {
        @for (holds, name) in badges {
            @if holds { " " span class="badge" { (name) } }
        }
        @for word in node.group.iter().chain(&node.tags) {
            " " span class="badge" { (Text(word)) }
        }
    }
}

fn description(description: Option<&str>) -> Markup {
    html! {
        @if let Some(description) = description {
            p class="doc" { (Text(description)) }
        }
    }
}

/// A table of values, with the key of the flow if it differs.
fn values(title: &str, schema: &Schema, keys: &Map<String, Value>) -> Markup {
    html! {
        @if !schema.properties.is_empty() {
            h3 { (title) }
            table {
                @for (name, rust_type, required) in schema.values() {
                    @let property = schema.properties.get(name);
                    @let known = |field: &str| property?.get(field)?.as_str();
                    tr {
                        th scope="row" {
                            code { (Text(name)) }
                            @if !required { " " em { "optional" } }
                        }
                        td {
                            code { (Text(rust_type.or_else(|| known("type")).unwrap_or("any"))) }
                            @if let Some(key) = keys.get(name).and_then(Value::as_str) {
                                br; "in the flow: " code { (Text(key)) }
                            }
                            @if schema.adds(name) {
                                br; "added to the value of the key"
                            }
                            @if let Some(description) = known("description") {
                                br; (Text(description))
                            }
                        }
                    }
                }
            }
        }
    }
}

/// The actions that it can take, each with the values that it writes and its target.
fn actions(ways: &Ways<'_>, node: &NodeDocument, around: &str) -> Markup {
    let declared = node.actions.iter().flatten();
    let declared: HashMap<&str, _> = declared.map(|action| (&*action.name, action)).collect();
    let mut targets: HashMap<&str, Vec<Markup>> = HashMap::new();
    for edge in ways.edges(node) {
        let target = html! { (pick(around, &edge.to)) (mapped(&edge.mappings)) };
        targets.entry(&edge.condition).or_default().push(target);
    }
    for end in ways.ends(node) {
        if let Some(action) = &end.condition {
            let target = html! { (end_with(&end.label)) (mapped(&end.mappings)) };
            targets.entry(action).or_default().push(target);
        }
    }
    html! {
        h3 { "Actions" }
        ul class="actions" {
            @for name in names(ways, node) {
                li {
                    code { (Text(name)) } " → "
                    @match targets.remove(name) {
                        Some(targets) => { (listed(targets)) }
                        None => { (no_target(ways, node, around, name)) }
                    }
                    @if let Some(action) = declared.get(name) {
                        (keys("writes", &action.writes))
                        (keys("may write", &action.may_write))
                    }
                }
            }
        }
    }
}

/// The actions that it declares, followed by those that only its edges name.
fn names<'a>(ways: &Ways<'a>, node: &'a NodeDocument) -> Vec<&'a str> {
    let declared = node
        .actions
        .iter()
        .flatten()
        .map(|action| action.name.as_str());
    let routed = ways.edges(node).map(|edge| edge.condition.as_str());
    let routed = routed.chain(ways.ends(node).filter_map(|end| end.condition.as_deref()));
    let mut seen = HashSet::new();
    let mut names: Vec<&str> = declared
        .chain(routed)
        .chain(node.fallible.then_some(ERROR_ACTION))
        .collect();
    names.retain(|name| seen.insert(*name));
    if names.is_empty() {
        names.push(DEFAULT_ACTION);
    }
    names
}

/// The target of an action that no edge routes.
fn no_target(ways: &Ways<'_>, node: &NodeDocument, around: &str, action: &str) -> Markup {
    match ways.owners.get(&*node.id) {
        Some(owner) if action == ERROR_ACTION => {
            let owner_button = pick(around, &owner.id);
            if owner.settings.collect_errors {
                html! { "kept as a value by " (owner_button) }
            } else {
                html! { (owner_button) " fails" }
            }
        }
        None if ways.taken_back.contains_key(&*node.id) => match action {
            ERROR_ACTION => html! { "not taken back" },
            _ => html! { "taken back" },
        },
        None if action == ERROR_ACTION => html! { "the flow fails" },
        Some(owner) => html! { "goes on in " (pick(around, &owner.id)) },
        None => html! { "end" },
    }
}

fn mapped(mappings: &Map<String, Value>) -> Markup {
    html! {
        @for (source, key) in mappings {
            ", " code { (Text(key.as_str().unwrap_or_default())) } " from " code { (Text(source)) }
        }
    }
}

fn end_with(label: &str) -> Markup {
    html! {
        "end"
        @if label != DEFAULT_ACTION { " " code { (Text(label)) } }
    }
}

/// A button that shows another node of the same flow.
fn pick(around: &str, id: &str) -> Markup {
    let path = node_path(around, id);
    html! {
        button type="button" class="pick" data-path=(Text(&path)) { (Text(id)) }
    }
}

fn keys(verb: &str, keys: &[String]) -> Markup {
    html! {
        @if !keys.is_empty() {
            br; (verb) " " (listed(keys.iter().map(|key| html! { code { (Text(key)) } })))
        }
    }
}

fn listed(items: impl IntoIterator<Item = Markup>) -> Markup {
    html! {
        @for (index, item) in items.into_iter().enumerate() {
            @if index > 0 { ", " }
            (item)
        }
    }
}
