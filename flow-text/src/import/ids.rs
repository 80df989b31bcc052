//! The ids and the names of values in a workflow, in the form that ids are compared in.

use std::borrow::Cow;

use flow_spec::document::__private::composed;
use serde_json::Value;

/// The fields of workflows, steps and cases with the id of a step or a node, or with the name of a
/// value, which often is such an id.
const IDS: [&str; 17] = [
    "id",
    "on_success",
    "on_error",
    "on_approve",
    "on_reject",
    "next",
    "then",
    "else",
    "default",
    "input",
    "startNode",
    "onSuccess",
    "onError",
    "targetNode",
    "loopNodeId",
    "children",
    "outputAdapter",
];

/// The field whose values are names of values.
const NAMES: &str = "inputAdapter";

/// The fields with lists of steps, nodes or cases.
const LISTS: [&str; 3] = ["steps", "nodes", "cases"];

/// The workflow with all ids composed (NFC).
pub(super) fn with_composed_ids(workflow: &Value) -> Value {
    let mut workflow = workflow.clone();
    compose(&mut workflow);
    workflow
}

fn compose(value: &mut Value) {
    let fields = value.as_object_mut().into_iter().flatten();
    for (name, value) in fields {
        let is_list = LISTS.contains(&name.as_str());
        match value {
            Value::String(id) if IDS.contains(&name.as_str()) => compose_id(id),
            Value::Object(names) if name == NAMES => {
                for name in names.values_mut() {
                    if let Value::String(name) = name {
                        compose_id(name);
                    }
                }
            }
            Value::Array(items) if is_list => items.iter_mut().for_each(compose),
            Value::Array(items) if IDS.contains(&name.as_str()) => {
                for item in items {
                    if let Value::String(id) = item {
                        compose_id(id);
                    }
                }
            }
            _ => {}
        }
    }
}

fn compose_id(id: &mut String) {
    if let Cow::Owned(composed) = composed(id) {
        *id = composed;
    }
}
