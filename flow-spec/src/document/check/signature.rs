//! Checks that a node that is a flow agrees with that flow.

use std::collections::HashSet;

use crate::diagnostic::Code;
use crate::document::problem::{Problem, Problems, inside};
use crate::document::{FlowDocument, NodeDocument};
use crate::graph::Action;
use crate::suggest::{closest, did_you_mean, did_you_mean_text};

pub(super) fn check(
    node: &NodeDocument,
    inner: &FlowDocument,
    pointer: &str,
    problems: &mut Problems,
) {
    if node.actions.is_some() && !inner.ends.is_empty() {
        check_actions(node, inner, &inside(pointer, "actions"), problems);
    }
    for side in ["inputs", "outputs"] {
        check_side(side, node, inner, pointer, problems);
    }
}

/// Checks that the actions of the node are the labels of the flow's ends.
fn check_actions(
    node: &NodeDocument,
    inner: &FlowDocument,
    pointer: &str,
    problems: &mut Problems,
) {
    let labels = inner.end_labels();
    let actions = node.actions.as_deref().unwrap_or_default();
    let names: Vec<&str> = actions.iter().map(|action| action.name.as_str()).collect();
    let (all_labels, all_names) = (set(&labels), set(&names));
    let mut missing: Vec<&str> = labels.clone();
    missing.retain(|label| !all_names.contains(label));
    for (index, name) in names.iter().enumerate() {
        if problems.is_full() {
            return;
        }
        if all_labels.contains(name) {
            continue;
        }
        let message = format!(
            "`{}` has no end \"{name}\", so that `{}` never decides so",
            inner.title(),
            node.id
        );
        let mut problem = Problem::new(Code::UnknownAction, inside(pointer, index), message);
        problem.help = did_you_mean_text(name, labels.iter().copied());
        problems.push(problem);
        forget_meant(name, &mut missing);
    }
    for label in missing {
        let message = format!(
            "`{}` ends with \"{label}\", which is not an action of `{}`",
            inner.title(),
            node.id
        );
        let help = format!("add it: `{{ \"name\": \"{label}\" }}`");
        problems.push(Problem::new(Code::UnroutedAction, pointer, message).help(help));
    }
}

/// Checks that the node does not claim to write more than the flow writes at its ends.
pub(super) fn check_writes(
    node: &NodeDocument,
    inner: &FlowDocument,
    written: &[Action],
    pointer: &str,
    problems: &mut Problems,
) {
    let actions = node.actions.iter().flatten().enumerate();
    for (at, action) in actions {
        let Some(end) = written.iter().find(|end| end.name == action.name) else {
            continue;
        };
        for (number, name) in action.writes.iter().enumerate() {
            if problems.is_full() {
                return;
            }
            let write = end.writes.iter().find(|write| write.key == *name);
            let (claim, help) = match write {
                _ if !inner.outputs.properties.contains_key(name) => continue,
                Some(write) if !write.optional => continue,
                Some(_) => ("may leave it unwritten", "list it under `mayWrite` instead"),
                None => ("does not write it", "remove it"),
            };
            let message = format!(
                "`{}` writes `{name}` on \"{}\", but `{}` {claim} at that end",
                node.id,
                action.name,
                inner.title()
            );
            let action = inside(&inside(pointer, "actions"), at);
            let pointer = inside(&inside(&action, "writes"), number);
            let problem = Problem::new(Code::UnwrittenOutput, pointer, message);
            problems.push(problem.help(help));
        }
    }
}

fn set<'a>(names: &[&'a str]) -> HashSet<&'a str> {
    names.iter().copied().collect()
}

/// Removes a missing name that is only misspelt: it is reported where it is misspelt.
fn forget_meant(wrong: &str, missing: &mut Vec<&str>) {
    if let Some(meant) = closest(wrong, missing.iter().copied()) {
        missing.retain(|name| *name != meant);
    }
}

/// Checks that the node reads the flow's inputs and writes its outputs. An optional input may be
/// left out.
fn check_side(
    side: &str,
    node: &NodeDocument,
    inner: &FlowDocument,
    pointer: &str,
    problems: &mut Problems,
) {
    let (of_node, of_flow, verb) = match side {
        "inputs" => (&node.inputs, &inner.inputs, "takes"),
        _ => (&node.outputs, &inner.outputs, "returns"),
    };
    let title = inner.title();
    let is_needed = |name: &&str| side == "outputs" || of_flow.requires(name);
    let names = of_flow.properties.keys().map(String::as_str);
    let is_missing = |name: &&str| !of_node.properties.contains_key(*name);
    let mut missing: Vec<&str> = names.clone().filter(is_missing).filter(is_needed).collect();
    for name in of_node.properties.keys() {
        if problems.is_full() {
            return;
        }
        if of_flow.properties.contains_key(name) {
            continue;
        }
        let message = format!("`{title}` {verb} no `{name}`");
        let pointer = inside(&inside(&inside(pointer, side), "properties"), name);
        let mut problem = Problem::new(Code::NamesNothing, pointer, message);
        problem.help = did_you_mean(name, names.clone());
        problems.push(problem);
        forget_meant(name, &mut missing);
    }
    for name in missing {
        let message = format!(
            "`{title}` {verb} `{name}`, which is not among the {side} of `{}`",
            node.id
        );
        let help = format!("add `{name}` to its `{side}`");
        problems.push(Problem::new(Code::NamesNothing, pointer, message).help(help));
    }
}
