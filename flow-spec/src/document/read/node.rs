//! A node, with its actions and mappings.

use serde_json::Value;

use crate::diagnostic::Code;
use crate::document::problem::{Problem, Problems};
use crate::document::{ActionDocument, MappingsDocument, NodeDocument};

use super::object::Object;
use super::{builtin, flow, names, schema, settings};

const FIELDS: [&str; 18] = [
    "type",
    "id",
    "description",
    "title",
    "icon",
    "group",
    "tags",
    "params",
    "paramsOmitted",
    "settings",
    "inputs",
    "outputs",
    "actions",
    "fallible",
    "mappings",
    "dependencies",
    "internalFlow",
    "internalFlowOmitted",
];

/// Reads a node of a flow that has `depth` flows around it.
pub(super) fn node(
    value: &Value,
    pointer: &str,
    depth: usize,
    problems: &mut Problems,
) -> NodeDocument {
    let Some(mut object) = Object::of(value, pointer, "a node", &FIELDS, problems) else {
        return NodeDocument::default();
    };
    let help = "name the function, type or flow that the node is: `\"type\": \"review\"`";
    let before = object.problems.len();
    let inputs = object.part("inputs", schema::unadded).unwrap_or_default();
    let outputs = object.part("outputs", schema::schema).unwrap_or_default();
    let are_known = object
        .problems
        .since(before)
        .iter()
        .all(|problem| problem.code == Code::NamesNothing)
        && !object.is_misspelt("inputs")
        && !object.is_misspelt("outputs");
    let mut node = NodeDocument {
        r#type: object.required_name("type", help),
        id: object.required_name("id", "name the node: `\"id\": \"review\"`"),
        description: object.text("description"),
        title: object.name("title"),
        icon: object.name("icon"),
        group: object.name("group"),
        tags: object.names("tags"),
        params: object.object("params").cloned().unwrap_or_default(),
        params_omitted: object.names("paramsOmitted"),
        settings: object
            .part("settings", settings::settings)
            .unwrap_or_default(),
        inputs,
        outputs,
        actions: object.list("actions", action),
        fallible: object.flag("fallible"),
        mappings: object.part("mappings", mappings).unwrap_or_default(),
        dependencies: object.names("dependencies"),
        internal_flow: object
            .part("internalFlow", |value, pointer, problems| {
                flow::flow(value, pointer, depth + 1, problems)
            })
            .flatten()
            .map(Box::new),
        internal_flow_omitted: object.flag("internalFlowOmitted"),
    };
    node.compose_ids();
    check_flow(&node, &mut object);
    builtin::check(&node, &mut object);
    if are_known {
        names::check_node(&node, pointer, object.problems);
    }
    node
}

fn check_flow(node: &NodeDocument, object: &mut Object<'_, '_>) {
    if node.internal_flow_omitted && object.has("internalFlow") {
        let message = "`internalFlowOmitted` is true, and there is an `internalFlow`";
        let pointer = object.at("internalFlowOmitted");
        let problem = Problem::new(Code::Document, pointer, message).help("remove one of them");
        object.problems.push(problem);
    }
}

fn action(value: &Value, pointer: &str, problems: &mut Problems) -> ActionDocument {
    let fields = ["name", "writes", "mayWrite"];
    let Some(mut object) = Object::of(value, pointer, "an action", &fields, problems) else {
        return ActionDocument::default();
    };
    ActionDocument {
        name: object.required_name("name", "name the action: `\"name\": \"default\"`"),
        writes: object.names("writes"),
        may_write: object.names("mayWrite"),
    }
}

fn mappings(value: &Value, pointer: &str, problems: &mut Problems) -> MappingsDocument {
    let fields = ["inputs", "outputs"];
    let Some(mut object) = Object::of(value, pointer, "`mappings`", &fields, problems) else {
        return MappingsDocument::default();
    };
    MappingsDocument {
        inputs: object.names_by_name("inputs").unwrap_or_default(),
        outputs: object.names_by_name("outputs").unwrap_or_default(),
    }
}
