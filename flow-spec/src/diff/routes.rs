//! The places where the flow begins, continues and ends. An execution that reaches them follows the
//! new version.

use serde_json::{Map, Value};

use crate::document::FlowDocument;
use crate::document::problem::inside;

use super::change::{Change, Effect, Kind, Part};
use super::context::Context;
use super::matching::Renamed;
use super::passed;

/// An edge or an end.
struct Route<'a> {
    pointer: String,
    /// The node and the action. `None` if the flow ends where it starts.
    from: Option<(&'a str, &'a str)>,
    to: Target<'a>,
    mappings: &'a Map<String, Value>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Target<'a> {
    Node(&'a str),
    End(&'a str),
}

pub(super) fn compare(
    old: &FlowDocument,
    new: &FlowDocument,
    renamed: &Renamed<'_>,
    context: &Context,
    changes: &mut Vec<Change>,
) {
    compare_entry(old, new, renamed, context, changes);
    let before = routes(old, renamed);
    let after = routes(new, &Renamed::new());
    let of_flow = context.of_flow();
    let is_kept = |id: &str| new.nodes.iter().any(|node| node.id == id);
    // The nodes after the old target of a route. A removed node is reported itself.
    let behind = |was: &Route<'_>| match was.to {
        Target::Node(id) if is_kept(id) && was.from.is_none_or(|(from, _)| is_kept(from)) => {
            let mut names = renamed.iter();
            let old_id = names
                .find(|(_, now)| **now == id)
                .map_or(id, |(old, _)| *old);
            passed::from(old, old_id, context)
        }
        Target::End(_) if was.from.is_none_or(|(from, _)| is_kept(from)) => {
            passed::behind_end(context)
        }
        _ => Vec::new(),
    };
    let mut add = |kind, pointer: &str, message: String, passed: Vec<String>| {
        let change = context.change(Part::Edge, kind, pointer, format!("{of_flow}{message}"));
        changes.push(change.for_executions(Effect::Compatible).behind(passed));
    };
    for route in &after {
        let Some(was) = before.iter().find(|was| was.from == route.from) else {
            let message = format!("edge {} to {} was added", route.start(), route.to.text());
            add(Kind::Added, &route.pointer, message, Vec::new());
            continue;
        };
        if was.to != route.to {
            let message = format!(
                "{} leads to {}, and led to {}",
                route.start(),
                route.to.text(),
                was.to.text()
            );
            add(Kind::Changed, &route.pointer, message, behind(was));
        }
        if was.mappings != route.mappings {
            let message = format!("{} writes under other names", route.start());
            add(Kind::Changed, &route.pointer, message, Vec::new());
        }
    }
    for route in &before {
        if !after.iter().any(|now| now.from == route.from) {
            let message = format!("edge {} to {} was removed", route.start(), route.to.text());
            add(Kind::Removed, &route.pointer, message, behind(route));
        }
    }
}

fn compare_entry(
    old: &FlowDocument,
    new: &FlowDocument,
    renamed: &Renamed<'_>,
    context: &Context,
    changes: &mut Vec<Change>,
) {
    let (before, after) = (old.entry_node_id.as_deref(), new.entry_node_id.as_deref());
    let before = before.map(|id| renamed.get(id).copied().unwrap_or(id));
    let mut add = |pointer, message: String, passed: Vec<String>| {
        let message = format!("{}{message}", context.of_flow());
        let change = context.change(Part::Entry, Kind::Changed, pointer, message);
        changes.push(change.for_executions(Effect::Compatible).behind(passed));
    };
    if old.entry_mappings != new.entry_mappings {
        add(
            "/entryMappings",
            "`start` writes under other names".to_owned(),
            Vec::new(),
        );
    }
    if before == after {
        return;
    }
    let called = |id: Option<&str>| id.map_or("nowhere".to_owned(), |id| format!("at `{id}`"));
    let message = format!(
        "the flow begins {}, and began {}",
        called(after),
        called(before)
    );
    let is_kept = before.is_some_and(|id| new.nodes.iter().any(|node| node.id == id));
    let began = old.entry_node_id.as_deref().filter(|_| is_kept);
    let passed = began.map_or_else(Vec::new, |id| passed::from(old, id, context));
    add("/entryNodeId", message, passed);
}

/// The edges and ends of a flow, with the new names of its nodes.
fn routes<'a>(flow: &'a FlowDocument, renamed: &Renamed<'a>) -> Vec<Route<'a>> {
    let id = |id: &'a str| renamed.get(id).copied().unwrap_or(id);
    let edges = flow.edges.iter().enumerate();
    let edges = edges.map(|(index, edge)| Route {
        pointer: inside("/edges", index),
        from: Some((id(&edge.from), edge.condition.as_str())),
        to: Target::Node(id(&edge.to)),
        mappings: &edge.mappings,
    });
    let ends = flow.ends.iter().enumerate();
    let ends = ends.map(|(index, end)| {
        let condition = end.condition.as_deref().unwrap_or_default();
        Route {
            pointer: inside("/ends", index),
            from: end.from.as_deref().map(|from| (id(from), condition)),
            to: Target::End(&end.label),
            mappings: &end.mappings,
        }
    });
    edges.chain(ends).collect()
}

impl Route<'_> {
    fn start(&self) -> String {
        match self.from {
            Some((from, action)) => format!("`{from}` - \"{action}\""),
            None => "`start`".to_owned(),
        }
    }
}

impl Target<'_> {
    fn text(self) -> String {
        match self {
            Target::Node(id) => format!("`{id}`"),
            Target::End(label) => format!("end \"{label}\""),
        }
    }
}
