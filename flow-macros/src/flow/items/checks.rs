//! Checks for names that would collide as fields or variants, and for invalid ones: the analysis
//! does not know the types that a flow defines.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

use flow_spec::Code;

use crate::flow::instances::{Instance, Instances};
use crate::flow::syntax::{FlowSyntax, StepSyntax};
use crate::names::{camel_case, is_name, plain};
use crate::report::Report;

use super::enums::{End, ends, node_variant};

/// Reports parameters with the same name. Two fields with one name would not compile, so this is
/// done here and not by the analysis.
pub(super) fn check_parameters(flow: &FlowSyntax, report: &mut Report) {
    for (what, parameters) in [("input", &flow.inputs), ("output", &flow.outputs)] {
        let mut seen = HashSet::new();
        for parameter in parameters {
            let name = &parameter.name;
            if !seen.insert(plain(name)) {
                let message = format!("a second {what} is named `{name}`");
                report.error(
                    Code::Name,
                    name.span(),
                    message,
                    "name one of them otherwise",
                );
            }
        }
    }
    if let Some(output) = flow
        .outputs
        .iter()
        .find(|output| plain(&output.name) == "end")
    {
        let message = "`end` is the output that says at which end a run arrived";
        report.error(Code::Name, output.name.span(), message, "name it otherwise");
    }
    for name in flow
        .inputs
        .iter()
        .map(|input| &input.name)
        .chain(flow.nodes.iter().map(|node| &node.name))
    {
        if name == "build" {
            let message = "`build` is the method that ends a builder";
            report.error(Code::Name, name.span(), message, "name it otherwise");
        }
    }
}

/// Checks the labels, which become the variants of an enum.
pub(super) fn check_ends(flow: &FlowSyntax, report: &mut Report) {
    let ends = ends(flow);
    let by_variant = ends.iter().map(|end| (end.variant.to_string(), end));
    let by_variant: HashMap<String, &End> = by_variant.collect();
    for edge in &flow.edges {
        let StepSyntax::End(_, Some(label)) = &edge.to else {
            continue;
        };
        let (text, variant) = (label.value(), camel_case(&label.value()));
        if text.trim().is_empty() {
            continue;
        }
        if !is_name(&variant) {
            let help = "write a word, such as `end(\"rejected\")`";
            report.error(
                Code::Malformed,
                label.span(),
                format!("\"{text}\" cannot name an end"),
                help,
            );
        } else if let Some(same) = by_variant.get(&variant).filter(|end| end.label != text) {
            let message = format!(
                "the labels \"{}\" and \"{text}\" are both `{variant}`",
                same.label
            );
            report.error(
                Code::Name,
                label.span(),
                message,
                "write both alike, or name one of them otherwise",
            );
        }
    }
}

/// Checks the names of nodes, which also become the variants of an enum.
pub(super) fn check_nodes(instances: &Instances, report: &mut Report) {
    let mut nodes: HashMap<String, &Instance> = HashMap::new();
    for instance in instances.named_ones() {
        let same = match nodes.entry(node_variant(instance).to_string()) {
            Entry::Occupied(same) => same,
            Entry::Vacant(free) => {
                free.insert(instance);
                continue;
            }
        };
        let (variant, same) = (same.key(), same.get());
        let message = format!(
            "the nodes `{}` and `{}` are both `{variant}`",
            same.name, instance.name
        );
        let help = format!(
            "declare one of them under another name: `node other_name: {};`",
            instance.shown
        );
        report.error(Code::Name, instance.span, message, help);
    }
}
