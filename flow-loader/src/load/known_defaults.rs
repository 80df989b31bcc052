//! Defaults of inputs that only the program knows from which the document comes. A loaded flow
//! lacks such a default, so the input has to be given.

use flow_spec::FlowDocument;
use flow_spec::document::__private::inside;
use flow_spec::document::{Problem, Schema};

/// Finds the mistakes in a flow in which inputs without a known default are required: where it is
/// started, and where a flow in it is a node.
pub(super) fn check(document: &FlowDocument) -> Vec<Problem> {
    if !omits(document) {
        return document.check();
    }
    let mut strict = document.clone();
    let mut required = Vec::new();
    require(&mut strict, "", &mut required);
    let mut found = strict.check();
    for problem in &mut found {
        if required.contains(&problem.pointer) {
            let note = "the program from which the document comes has a default, which the document does not say";
            problem.notes.push(note.to_owned());
            let help = "write it before, or write the `default` in place of `defaultOmitted`";
            problem.help = Some(help.to_owned());
        }
    }
    found
}

fn unknown(inputs: &Schema) -> Vec<String> {
    let names = inputs.properties.keys();
    let unknown = names.filter(|name| inputs.omits_default_of(name) && !inputs.requires(name));
    unknown.cloned().collect()
}

fn omits(document: &FlowDocument) -> bool {
    let mut inner = document.nodes.iter();
    !unknown(&document.inputs).is_empty()
        || inner.any(|node| node.internal_flow.as_deref().is_some_and(omits))
}

/// Adds the pointers of the values that nodes read and that have become required.
fn require(document: &mut FlowDocument, pointer: &str, required: &mut Vec<String>) {
    let names = unknown(&document.inputs);
    document.inputs.required.extend(names);
    for (index, node) in document.nodes.iter_mut().enumerate() {
        let Some(inner) = &mut node.internal_flow else {
            continue;
        };
        let node_pointer = format!("{pointer}/nodes/{index}");
        for name in unknown(&inner.inputs) {
            if node.inputs.properties.contains_key(&name) && !node.inputs.requires(&name) {
                required.push(inside(&format!("{node_pointer}/inputs/properties"), &name));
                node.inputs.required.push(name);
            }
        }
        require(inner, &format!("{node_pointer}/internalFlow"), required);
    }
}
