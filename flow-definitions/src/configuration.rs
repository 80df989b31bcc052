//! The configuration of a definition, as the defaults of its flow's inputs.

use flow_spec::FlowDocument;
use flow_spec::did_you_mean;
use flow_spec::document::{DEFAULT, DEFAULT_OMITTED};
use serde_json::{Map, Value};

use crate::finding::Finding;

/// Gives the inputs their values. Returns a warning for each value that belongs to no input.
pub(crate) fn apply(
    configuration: &Map<String, Value>,
    document: &mut FlowDocument,
) -> Vec<Finding> {
    let mut unknown = Vec::new();
    for (name, value) in configuration {
        let inputs = &mut document.inputs;
        match inputs.properties.get_mut(name) {
            Some(Value::Object(property)) => {
                property.remove(DEFAULT_OMITTED);
                property.insert(DEFAULT.to_owned(), value.clone());
                inputs.required.retain(|required| required != name);
            }
            _ => unknown.push(Finding::names_nothing(
                pointer(name),
                format!("the flow has no input `{name}`, so that the value has no effect"),
                did_you_mean(name, inputs.properties.keys().map(String::as_str)),
            )),
        }
    }
    unknown
}

/// The pointer of a value in the definition.
pub(crate) fn pointer(name: &str) -> String {
    format!("/configuration/{}", escaped(name))
}

/// The name of the configured value that is the default at this pointer in the flow.
pub(crate) fn of_default<'a>(
    configuration: &'a Map<String, Value>,
    flow_pointer: &str,
) -> Option<&'a str> {
    let rest = flow_pointer.strip_prefix("/inputs/properties/")?;
    let name = rest.strip_suffix("/default")?;
    let mut names = configuration.keys().map(String::as_str);
    names.find(|configured| escaped(configured) == name)
}

/// A name as a part of a JSON pointer.
pub(crate) fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}
