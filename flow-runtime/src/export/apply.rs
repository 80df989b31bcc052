//! Puts the values into their places in the document.

use flow_spec::FlowDocument;
use flow_spec::document::{DEFAULT, DEFAULT_OMITTED, NodeDocument, Schema, with_schema};
use serde_json::{Map, Value};

use super::values::Values;

impl Values {
    /// Puts the values into the document of their flow.
    pub(super) fn apply(mut self, document: &mut FlowDocument) {
        self.put_schemas(document);
        for (input, default) in self.defaults.drain(..) {
            let property = document.inputs.properties.get_mut(input);
            if let Some(Value::Object(property)) = property {
                property.remove(DEFAULT_OMITTED);
                property.insert(DEFAULT.to_owned(), default);
            }
        }
        for node in &mut document.nodes {
            if let Some(at) = self.nodes.iter().position(|(id, _)| *id == node.id) {
                let (_, values) = self.nodes.swap_remove(at);
                node.params = values.params;
                node.params_omitted = values.omitted;
            }
            let flow = self.flows.iter().position(|(id, _)| *id == node.id);
            if let (Some(at), Some(inner)) = (flow, &mut node.internal_flow) {
                self.flows.swap_remove(at).1.apply(inner);
            }
        }
    }

    fn put_schemas(&self, document: &mut FlowDocument) {
        let of_key = |key: &str| {
            let found = self.schemas.iter().find(|(candidate, _)| *candidate == key);
            found.map(|(_, schema)| schema)
        };
        put(&mut document.inputs, |name| of_key(name));
        put(&mut document.outputs, |name| of_key(name));
        for node in &mut document.nodes {
            let NodeDocument {
                inputs,
                outputs,
                mappings,
                ..
            } = node;
            put(inputs, |name| of_key(mapped(&mappings.inputs, name)));
            put(outputs, |name| of_key(mapped(&mappings.outputs, name)));
        }
    }
}

/// The flow's key for a name of the node.
fn mapped<'a>(mappings: &'a Map<String, Value>, name: &'a str) -> &'a str {
    mappings.get(name).and_then(Value::as_str).unwrap_or(name)
}

/// Replaces the schema that the spelling of a type suggests with that of the type itself. The
/// flow's own description of the value stays.
fn put<'a>(schema: &mut Schema, of_name: impl Fn(&str) -> Option<&'a Map<String, Value>>) {
    for (name, property) in &mut schema.properties {
        let Some(found) = of_name(name) else {
            continue;
        };
        if let Some(written) = property.as_object() {
            *property = with_schema(written, found).into();
        }
    }
}
