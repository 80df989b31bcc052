//! Additions to the OpenAPI document beyond the annotations at the routes: limits, names and
//! authentication.

use flow_durable::{RecordKind, Status};
use serde_json::{Map, Value, json};
use utoipa::openapi::OpenApi;

use crate::limits::Limits;

/// The routes that also accept links.
const LINKED: [&str; 12] = [
    "get_execution",
    "get_structure",
    "get_picture",
    "list_undoable_steps",
    "get_journal",
    "get_state",
    "get_writes",
    "get_events_of_execution",
    "list_questions",
    "list_questions_of_execution",
    "get_question",
    "list_signals",
];

/// Fields of answers that have one of a fixed set of names.
const NAMES: [(&str, &str, &[&str]); 4] = [
    ("DefinitionView", "status", &["draft", "active"]),
    ("ContentBody", "status", &["draft", "active"]),
    ("FindingView", "severity", &["error", "warning"]),
    ("HealthView", "status", &["ok"]),
];

/// Completes the document of a server with these limits.
pub(super) fn complete(api: &OpenApi, limits: &Limits) -> Value {
    let mut api = json!(api);
    let mut operations: Vec<&mut Value> = Vec::new();
    for path in objects(api.get_mut("paths")) {
        operations.extend(objects(Some(path)));
    }
    for operation in operations {
        let id = operation["operationId"].as_str().unwrap_or_default();
        if LINKED.contains(&id) || id == "answer_question" {
            operation["security"] = json!([{ "bearer": [] }, { "link": [] }]);
        }
        for parameter in items(operation.get_mut("parameters")) {
            parameter_says_what_it_takes(parameter);
        }
        if let Some(body) = operation.get_mut("requestBody") {
            let most = limits.body_bytes;
            body["description"] = format!("At most {most} bytes, which are not compressed.").into();
        }
        let refused = operation["responses"]["4XX"].clone();
        if refused.is_object() {
            operation["responses"]["5XX"] = refused;
            let description = "The server could not carry it out";
            operation["responses"]["5XX"]["description"] = description.into();
        }
    }
    let schemas = &mut api["components"]["schemas"];
    let statuses = Status::ALL.map(Status::as_str);
    let kinds = RecordKind::ALL.map(RecordKind::as_str);
    let views = [
        ("ExecutionView", "status", &statuses[..]),
        ("ProblemView", "executionStatus", &statuses[..]),
        ("RecordView", "kind", &kinds[..]),
    ];
    for (schema, field, names) in views.into_iter().chain(NAMES) {
        // The schemas of definitions exist only with their feature.
        if let Some(property) = schemas.pointer_mut(&format!("/{schema}/properties/{field}")) {
            property["enum"] = json!(names);
        }
    }
    for schema in objects(Some(schemas)) {
        for property in objects(schema.get_mut("properties")) {
            with_range(property);
        }
    }
    api
}

/// Adds the path of the server, and drops tokens unless the server `asks_who` sends a request.
pub(super) fn of_server(api: &mut Value, base: &str, asks_who: bool) {
    if !base.is_empty() {
        api["servers"] = json!([{ "url": base }]);
    }
    if asks_who {
        return;
    }
    api["security"] = json!([]);
    for path in objects(api.get_mut("paths")) {
        for operation in objects(Some(path)) {
            // A link is still useful: it names an execution.
            if let Some(security) = operation.get_mut("security") {
                *security = json!([{}, { "link": [] }]);
            }
        }
    }
}

fn objects(value: Option<&mut Value>) -> impl Iterator<Item = &mut Value> {
    value
        .and_then(Value::as_object_mut)
        .into_iter()
        .flat_map(Map::values_mut)
}

fn items(value: Option<&mut Value>) -> impl Iterator<Item = &mut Value> {
    value.and_then(Value::as_array_mut).into_iter().flatten()
}

/// Describes a parameter as text: it cannot be `null`, and a number has a range.
fn parameter_says_what_it_takes(parameter: &mut Value) {
    let pattern = match parameter["name"].as_str().unwrap_or_default() {
        "status" => Some(format!("^({})$", Status::ALL.map(Status::as_str).join("|"))),
        "kind" => Some(listed(&RecordKind::ALL.map(RecordKind::as_str).join("|"))),
        // Names between dots, perhaps with an index, with `*` and `**` as wildcards.
        "path" => Some(listed(&format!("{SEGMENT}(?:\\.{SEGMENT})*"))),
        "Idempotency-Key" => Some("^[!-~]([ -~]*[!-~])?$".to_owned()),
        _ => None,
    };
    // Stores have signed times.
    let is_time = parameter["name"]
        .as_str()
        .is_some_and(|name| name.ends_with("Ms"));
    let schema = &mut parameter["schema"];
    if is_time {
        schema["maximum"] = i64::MAX.into();
    }
    if let Some(kinds) = schema["type"].as_array_mut() {
        kinds.retain(|kind| kind != "null");
        if let [kind] = &kinds[..] {
            schema["type"] = kind.clone();
        }
    }
    if let Some(pattern) = pattern {
        schema["pattern"] = pattern.into();
    }
    with_range(schema);
}

const SEGMENT: &str = r"(?:\*\*?|[^\s\x00-\x1f\x7f-\x9f,.*`\[\]]+(?:\[[0-9]{1,9}\])?)";

/// Returns a pattern for a comma-separated list.
fn listed(item: &str) -> String {
    format!("^ *(?:{item})? *(?:, *(?:{item})? *)*$")
}

/// Adds the range of numbers of an integer format.
fn with_range(schema: &mut Value) {
    let is_unsigned = schema["minimum"].as_f64().is_some_and(|least| least >= 0.0);
    let (least, most): (i64, u64) = match (schema["format"].as_str(), is_unsigned) {
        (Some("int32"), false) => (i32::MIN.into(), i32::MAX as u64),
        (Some("int32"), true) => (0, u32::MAX.into()),
        (Some("int64"), true) => (0, u64::MAX),
        _ => return,
    };
    let Some(schema) = schema.as_object_mut() else {
        return;
    };
    schema.entry("minimum").or_insert_with(|| least.into());
    schema.entry("maximum").or_insert_with(|| most.into());
    if schema["maximum"] == u64::MAX {
        schema.remove("format"); // the format would promise less
    }
}
