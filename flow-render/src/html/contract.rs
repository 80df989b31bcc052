//! What a node takes, gives and decides, as its user sees it.

use flow_spec::document::{FlowDocument, NodeDocument, Schema};
use flow_spec::{DEFAULT_ACTION, ERROR_ACTION, node_path};
use serde_json::Value;

use super::facts;
use crate::words;
use crate::xml::escaped;

/// An article for the flow and for each node at any level. The first is shown.
pub(super) fn contracts(flow: &FlowDocument) -> String {
    let mut text = String::new();
    of_flow(flow, &mut text);
    of_nodes(flow, "", &mut text);
    text
}

fn of_flow(flow: &FlowDocument, text: &mut String) {
    let title = escaped(flow.title());
    *text += &format!("<article data-contract=\"\">\n<h2>{title}</h2>\n");
    if !flow.namespace.is_empty() {
        *text += &format!("<p class=\"type\">{}</p>\n", escaped(&flow.namespace));
    }
    description(flow.description.as_deref(), text);
    values("Inputs", &flow.inputs, &serde_json::Map::new(), text);
    values("Outputs", &flow.outputs, &serde_json::Map::new(), text);
    if !flow.ends.is_empty() {
        *text += "<h3>Ends</h3>\n<ul>\n";
        for label in flow.end_labels() {
            *text += &format!("<li><code>{}</code></li>\n", escaped(&words::end(label)));
        }
        *text += "</ul>\n";
    }
    *text += "</article>\n";
}

fn of_nodes(flow: &FlowDocument, around: &str, text: &mut String) {
    for node in &flow.nodes {
        let path = node_path(around, &node.id);
        of_node(flow, node, around, &path, text);
        if let Some(inner) = &node.internal_flow {
            of_nodes(inner, &path, text);
        }
    }
}

fn of_node(flow: &FlowDocument, node: &NodeDocument, around: &str, path: &str, text: &mut String) {
    let (at, id, kind) = (escaped(path), escaped(&node.id), escaped(&node.r#type));
    *text += &format!("<article data-contract=\"{at}\" hidden>\n<h2>{id}</h2>\n");
    *text += &format!("<p class=\"type\">{kind}{}</p>\n", badges(node));
    if path != node.id {
        *text += &format!("<p class=\"path\">{at}</p>\n");
    }
    description(node.description.as_deref(), text);
    if node.internal_flow.is_some() {
        *text += &format!(
            "<p><button type=\"button\" data-reveal=\"{at}\">show what is inside</button></p>\n"
        );
    }
    before(flow, node, around, text);
    values("Inputs", &node.inputs, &node.mappings.inputs, text);
    values("Outputs", &node.outputs, &node.mappings.outputs, text);
    actions(flow, node, around, text);
    facts::settings(&node.settings, text);
    facts::params(node, text);
    *text += "</article>\n";
}

/// Where the flow comes from to this node.
fn before(flow: &FlowDocument, node: &NodeDocument, around: &str, text: &mut String) {
    let before = flow.predecessors(&node.id);
    if before.is_empty() {
        return;
    }
    let before: Vec<String> = before.iter().map(|node| pick(around, &node.id)).collect();
    *text += &format!("<p>after {}</p>\n", before.join(", "));
}

fn badges(node: &NodeDocument) -> String {
    let mut badges = String::new();
    let mut badge = |holds: bool, name: &str| {
        if holds {
            badges += &format!(" <span class=\"badge\">{name}</span>");
        }
    };
    badge(node.internal_flow.is_some(), "flow");
    badge(node.internal_flow_omitted, "flow, left out of this export");
    badge(node.fallible, "can fail");
    badges
}

fn description(description: Option<&str>, text: &mut String) {
    if let Some(description) = description {
        *text += &format!("<p class=\"doc\">{}</p>\n", escaped(description));
    }
}

/// A table of values, with the key of the flow where it is another.
fn values(title: &str, schema: &Schema, keys: &serde_json::Map<String, Value>, text: &mut String) {
    if schema.properties.is_empty() {
        return;
    }
    *text += &format!("<h3>{title}</h3>\n<table>\n");
    for (name, rust_type, required) in schema.values() {
        let property = schema.properties.get(name);
        let known = |field: &str| property?.get(field)?.as_str();
        let kind = escaped(rust_type.or_else(|| known("type")).unwrap_or("any"));
        let optional = if required { "" } else { " <em>optional</em>" };
        *text += &format!(
            "<tr><th scope=\"row\"><code>{}</code>{optional}</th><td><code>{kind}</code>",
            escaped(name)
        );
        if let Some(key) = keys.get(name).and_then(Value::as_str) {
            *text += &format!("<br>in the flow: <code>{}</code>", escaped(key));
        }
        if let Some(description) = known("description") {
            *text += &format!("<br>{}", escaped(description));
        }
        *text += "</td></tr>\n";
    }
    *text += "</table>\n";
}

/// What it can decide, with what it writes then and where that leads.
fn actions(flow: &FlowDocument, node: &NodeDocument, around: &str, text: &mut String) {
    *text += "<h3>Actions</h3>\n<ul class=\"actions\">\n";
    for name in names(flow, node) {
        let declared = node
            .actions
            .iter()
            .flatten()
            .find(|action| action.name == name);
        *text += &format!(
            "<li><code>{}</code> → {}",
            escaped(name),
            targets(flow, node, around, name)
        );
        if let Some(action) = declared {
            keys("writes", &action.writes, text);
            keys("may write", &action.may_write, text);
        }
        *text += "</li>\n";
    }
    *text += "</ul>\n";
}

/// The actions that it declares, and those that only its edges name.
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

fn targets(flow: &FlowDocument, node: &NodeDocument, around: &str, action: &str) -> String {
    let mut targets = Vec::new();
    for edge in &flow.edges {
        if edge.from == node.id && edge.condition == action {
            let mut target = pick(around, &edge.to);
            for (key, renamed) in &edge.mappings {
                let renamed = renamed.as_str().unwrap_or_default();
                let (key, renamed) = (escaped(key), escaped(renamed));
                target += &format!(", <code>{key}</code> as <code>{renamed}</code>");
            }
            targets.push(target);
        }
    }
    for end in &flow.ends {
        if end.from.as_ref() == Some(&node.id) && end.condition.as_deref() == Some(action) {
            targets.push(match end.label.as_str() {
                DEFAULT_ACTION => "end".to_owned(),
                label => format!("end <code>{}</code>", escaped(label)),
            });
        }
    }
    match (targets.is_empty(), flow.owner(&node.id)) {
        (false, _) => targets.join(", "),
        (true, Some(owner)) if action == ERROR_ACTION => {
            let owner_button = pick(around, &owner.id);
            match owner.settings.collect_errors {
                true => format!("kept as a value by {owner_button}"),
                false => format!("{owner_button} fails"),
            }
        }
        (true, None) if action == ERROR_ACTION => "the flow fails".to_owned(),
        (true, Some(owner)) => format!("goes on in {}", pick(around, &owner.id)),
        (true, None) => "end".to_owned(),
    }
}

/// A button that shows another node of the same flow.
fn pick(around: &str, id: &str) -> String {
    let path = node_path(around, id);
    format!(
        "<button type=\"button\" class=\"pick\" data-path=\"{}\">{}</button>",
        escaped(&path),
        escaped(id)
    )
}

fn keys(verb: &str, keys: &[String], text: &mut String) {
    if keys.is_empty() {
        return;
    }
    let keys: Vec<String> = keys
        .iter()
        .map(|key| format!("<code>{}</code>", escaped(key)))
        .collect();
    *text += &format!("<br>{verb} {}", keys.join(", "));
}
