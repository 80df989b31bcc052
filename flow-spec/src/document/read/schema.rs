//! Values that are read or written.

use serde_json::{Map, Value};

use crate::diagnostic::Code;
use crate::document::problem::{Problem, Problems, inside};
use crate::document::{ADD, Schema};
use crate::suggest::{closest, question_of_name};

use super::object::Object;

pub(super) fn schema(value: &Value, pointer: &str, problems: &mut Problems) -> Schema {
    let side = pointer.rsplit('/').next().unwrap_or_default();
    let what = format!("`{side}`");
    let Some(mut object) = Object::open(value, pointer, &what, problems) else {
        return Schema::default();
    };
    object.value("type", "\"object\"", |kind| {
        (kind == "object").then_some(())
    });
    let properties = object.object("properties");
    let required = object.names("required");
    let keywords = object.others(&["type", "properties", "required"]);
    // The check of keywords reports a misspelt one.
    let mut others = keywords.keys();
    let is_misspelt = others.any(|name| closest(name, ["properties"]).is_some());
    let knows = !is_misspelt && (properties.is_some() || !object.has("properties"));
    let properties = properties.cloned().unwrap_or_default();
    check_properties(&properties, &inside(pointer, "properties"), problems);
    if knows {
        check_required(
            &required,
            &properties,
            &inside(pointer, "required"),
            problems,
        );
    }
    Schema {
        properties,
        required,
        keywords,
    }
}

/// Reads values that are not what a node writes, so that nothing is added.
pub(super) fn unadded(value: &Value, pointer: &str, problems: &mut Problems) -> Schema {
    let schema = schema(value, pointer, problems);
    for (name, property) in &schema.properties {
        if property.get(ADD).is_some() {
            let message = "`add` is said of what a node writes, in its `outputs`";
            let pointer = inside(&inside(&inside(pointer, "properties"), name), ADD);
            problems.push(Problem::new(Code::Addition, pointer, message).help("remove it"));
        }
    }
    schema
}

fn check_properties(properties: &Map<String, Value>, pointer: &str, problems: &mut Problems) {
    for (name, property) in properties {
        if problems.is_full() {
            return;
        }
        let pointer = inside(pointer, name);
        let what = format!("the schema of `{name}`");
        let Some(mut property) = Object::open(property, &pointer, &what, problems) else {
            continue;
        };
        property.text("rustType");
        property.flag(ADD);
    }
}

/// Checks that required values are among the properties.
fn check_required(
    required: &[String],
    properties: &Map<String, Value>,
    pointer: &str,
    problems: &mut Problems,
) {
    for (index, name) in required.iter().enumerate() {
        if problems.is_full() {
            return;
        }
        if name.is_empty() || properties.contains_key(name) {
            continue;
        }
        let message = format!("`{name}` is required, and is none of the properties");
        let help = match closest(name, properties.keys().map(String::as_str)) {
            Some(near) => question_of_name(name, near),
            None => "add it to `properties`".to_owned(),
        };
        let pointer = inside(pointer, index);
        problems.push(Problem::new(Code::NamesNothing, pointer, message).help(help));
    }
}
