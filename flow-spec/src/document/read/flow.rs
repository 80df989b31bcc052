//! A flow, its edges and its ends.

use serde_json::{Map, Value};

use crate::diagnostic::Code;
use crate::document::problem::{Problem, Problems};
use crate::document::{DEEPEST, EdgeDocument, EndDocument, FlowDocument, VERSION};

use super::object::Object;
use super::{names, node, schema};

const FIELDS: [&str; 12] = [
    "version",
    "namespace",
    "name",
    "description",
    "inputs",
    "outputs",
    "nodes",
    "edges",
    "ends",
    "entryNodeId",
    "entryMappings",
    "dependencies",
];

/// Reads a flow that has `depth` flows around it.
pub(super) fn flow(
    value: &Value,
    pointer: &str,
    depth: usize,
    problems: &mut Problems,
) -> Option<FlowDocument> {
    if depth > DEEPEST {
        let message = format!("flows nest deeper than {DEEPEST} levels");
        problems.push(Problem::new(Code::Document, pointer, message));
        return None;
    }
    let mut object = Object::of(value, pointer, "a flow", &FIELDS, problems)?;
    let version = version(&mut object);
    object.require(
        "nodes",
        "list the flow's nodes, each with `type` and `id`: `\"nodes\": [ … ]`",
    );
    object.require(
        "edges",
        "list the flow's edges, each with `from`, `to` and `condition`: `\"edges\": [ … ]`",
    );
    let namespace = object.text("namespace").unwrap_or_default();
    let name = object.text("name").unwrap_or_default();
    let description = object.text("description");
    let inputs = object.part("inputs", schema::unadded).unwrap_or_default();
    let outputs = object.part("outputs", schema::unadded).unwrap_or_default();
    let nodes = object.list("nodes", |value, pointer, problems| {
        node::node(value, pointer, depth, problems)
    });
    let has_nodes = nodes.is_some();
    if object.has("entryMappings") {
        let help = "name the node whose keys they are: `\"entryNodeId\": \"…\"`";
        object.require("entryNodeId", help);
    }
    let mut flow = FlowDocument {
        version,
        namespace,
        name,
        description,
        inputs,
        outputs,
        nodes: nodes.unwrap_or_default(),
        edges: object.list("edges", edge).unwrap_or_default(),
        ends: object.list("ends", end).unwrap_or_default(),
        entry_node_id: object.name("entryNodeId"),
        entry_mappings: object.names_by_name("entryMappings").unwrap_or_default(),
        dependencies: object.texts_by_name("dependencies"),
    };
    flow.compose_references();
    if has_nodes {
        names::find_entry(&mut flow);
        names::check(&flow, pointer, problems);
    }
    Some(flow)
}

fn version(object: &mut Object<'_, '_>) -> String {
    let version = object.required_name("version", "write `\"version\": \"2.0.0\"`");
    if !version.is_empty() && version != VERSION {
        let message =
            format!("the format has the version {version}, and this program reads {VERSION}");
        let problem = Problem::new(Code::Document, object.at("version"), message)
            .help("export the flow again, or use a version of this program for it");
        object.problems.push(problem);
    }
    version
}

fn edge(value: &Value, pointer: &str, problems: &mut Problems) -> EdgeDocument {
    let fields = ["from", "to", "condition", "mappings"];
    let Some(mut object) = Object::of(value, pointer, "an edge", &fields, problems) else {
        return EdgeDocument {
            from: String::new(),
            to: String::new(),
            condition: String::new(),
            mappings: Map::new(),
        };
    };
    EdgeDocument {
        from: object.required_name("from", "name the node that the edge starts from"),
        to: object.required_name("to", "name the node that the edge leads to"),
        condition: object.required_name(
            "condition",
            "name the action that the edge is for: `\"condition\": \"default\"`",
        ),
        mappings: object.names_by_name("mappings").unwrap_or_default(),
    }
}

fn end(value: &Value, pointer: &str, problems: &mut Problems) -> EndDocument {
    let fields = ["from", "condition", "label", "mappings"];
    let Some(mut object) = Object::of(value, pointer, "an end", &fields, problems) else {
        return EndDocument {
            from: Some(String::new()),
            condition: Some(String::new()),
            label: String::new(),
            mappings: Map::new(),
        };
    };
    if object.has("from") {
        let help = "name the action that ends the flow: `\"condition\": \"default\"`";
        object.require("condition", help);
    } else if object.has("condition") {
        let help = "name the node whose action it is, or remove `condition` if the flow ends where it starts";
        object.require("from", help);
    }
    EndDocument {
        from: object.name("from"),
        condition: object.name("condition"),
        label: object.required_name("label", "name the end: `\"label\": \"default\"`"),
        mappings: object.names_by_name("mappings").unwrap_or_default(),
    }
}
