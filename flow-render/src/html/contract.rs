//! The contract of a node: what it takes, returns and decides.

use flow_spec::document::{FlowDocument, NodeDocument, Schema};
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

fn of_nodes(flow: &FlowDocument, around: &str) -> Markup {
    html! {
        @for node in &flow.nodes {
            @let path = node_path(around, &node.id);
            (of_node(flow, node, around, &path))
            @if let Some(inner) = &node.internal_flow { (of_nodes(inner, &path)) }
        }
    }
}

fn of_node(flow: &FlowDocument, node: &NodeDocument, around: &str, path: &str) -> Markup {
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
            (before(flow, node, around))
            (values("Inputs", &node.inputs, &node.mappings.inputs))
            (values("Outputs", &node.outputs, &node.mappings.outputs))
            (actions(flow, node, around))
            (facts::settings(&node.settings))
            (facts::params(node))
        }
    }
}

/// The nodes from which the flow comes to this node.
fn before(flow: &FlowDocument, node: &NodeDocument, around: &str) -> Markup {
    let before = flow.predecessors(&node.id);
    html! {
        @if !before.is_empty() {
            p { "after " (listed(before.iter().map(|node| pick(around, &node.id)))) }
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

/// The actions that it can take, with what it writes on each and where each leads.
fn actions(flow: &FlowDocument, node: &NodeDocument, around: &str) -> Markup {
    let declared = |name| {
        node.actions
            .iter()
            .flatten()
            .find(|action| action.name == name)
    };
    html! {
        h3 { "Actions" }
        ul class="actions" {
            @for name in names(flow, node) {
                li {
                    code { (Text(name)) } " → " (targets(flow, node, around, name))
                    @if let Some(action) = declared(name) {
                        (keys("writes", &action.writes))
                        (keys("may write", &action.may_write))
                    }
                }
            }
        }
    }
}

/// The actions that it declares, followed by those that only its edges name.
fn names<'a>(flow: &'a FlowDocument, node: &'a NodeDocument) -> Vec<&'a str> {
    let declared = node
        .actions
        .iter()
        .flatten()
        .map(|action| action.name.as_str());
    let edges = flow.edges.iter().filter(|edge| edge.from == node.id);
    let ends = flow
        .ends
        .iter()
        .filter(|end| end.from.as_ref() == Some(&node.id));
    let routed = edges.map(|edge| edge.condition.as_str());
    let routed = routed.chain(ends.filter_map(|end| end.condition.as_deref()));
    let mut names: Vec<&str> = Vec::new();
    for name in declared
        .chain(routed)
        .chain(node.fallible.then_some(ERROR_ACTION))
    {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    if names.is_empty() {
        names.push(DEFAULT_ACTION);
    }
    names
}

fn targets(flow: &FlowDocument, node: &NodeDocument, around: &str, action: &str) -> Markup {
    let edges = flow.edges.iter();
    let edges = edges.filter(|edge| edge.from == node.id && edge.condition == action);
    let ends = flow.ends.iter().filter(|end| {
        end.from.as_ref() == Some(&node.id) && end.condition.as_deref() == Some(action)
    });
    let targets: Vec<Markup> = edges
        .map(|edge| html! { (pick(around, &edge.to)) (mapped(&edge.mappings)) })
        .chain(ends.map(|end| html! { (end_with(&end.label)) (mapped(&end.mappings)) }))
        .collect();
    if !targets.is_empty() {
        return listed(targets);
    }
    match flow.owner(&node.id) {
        Some(owner) if action == ERROR_ACTION => {
            let owner_button = pick(around, &owner.id);
            if owner.settings.collect_errors {
                html! { "kept as a value by " (owner_button) }
            } else {
                html! { (owner_button) " fails" }
            }
        }
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
