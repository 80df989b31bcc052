//! The values of nodes of types with settings.

use flow_spec::document::{Property, types};
use flow_spec::{Code, FlowDocument, NodeDocument, Problem, closest, node_path};
use serde_json::{Map, Value};

use crate::adapter::{Adapter, Make, Receiver};
use crate::params::{Param, ParamError, below, was_read_as_struct};
use crate::provided::{DependencyError, loading};
use crate::schema::{self, no_setting};

use super::Loader;
use super::params::{ParamsReader, references};

/// The maximum number of params of a node that are reported one by one: each time, the rest is read
/// again.
const MOST_REFUSED: usize = 20;

impl Loader<'_> {
    /// Reports the mistakes in the settings of the nodes of a flow that is not built because of
    /// other mistakes.
    pub(super) fn check_settings(&mut self, flow: &FlowDocument, pointer: &str, path: &str) {
        for (index, node) in flow.nodes.iter().enumerate() {
            let pointer = format!("{pointer}/nodes/{index}");
            let path = node_path(path, &node.id);
            if let Some(inner) = &node.internal_flow {
                self.check_settings(inner, &format!("{pointer}/internalFlow"), &path);
            } else if let Some(adapter) = self.adapters.get(&pointer).cloned() {
                self.receiver(&pointer, &path, node, &adapter);
            }
        }
    }

    /// The value of a node of a type with settings, by the node's pointer and path. `None` if it
    /// cannot be made, which is reported.
    pub(super) fn receiver(
        &mut self,
        pointer: &str,
        path: &str,
        node: &NodeDocument,
        adapter: &Adapter,
    ) -> Option<Option<Receiver>> {
        let pointer = format!("{pointer}/params");
        let is_external = [types::HUMAN, types::SIGNAL].contains(&node.r#type.as_str());
        let unwanted = !node.params.is_empty() && !is_external;
        let name = adapter.name;
        let (message, help) = match &adapter.make {
            Make::Nothing if unwanted => (
                format!("`{name}` is a function, and has no settings"),
                "remove `params`".to_owned(),
            ),
            Make::Given(_) | Make::Default(_) if unwanted => (
                format!("the value of `{name}` does not come from the document"),
                "remove `params`, or derive `serde::Deserialize` for the type and register it without a value".to_owned(),
            ),
            Make::Nothing => return Some(None),
            Make::Given(value) => return Some(Some(value.clone())),
            Make::Default(make) => return Some(Some(make())),
            Make::FromParams(make) => {
                return self.made(node, adapter, *make, (&pointer, path)).map(Some);
            }
        };
        self.problem(Code::Document, pointer, message, Some(help));
        None
    }
}

impl Loader<'_> {
    /// Makes the value of a node from its params. `None` if anything is wrong with them, all of
    /// which is reported.
    fn made(
        &mut self,
        node: &NodeDocument,
        adapter: &Adapter,
        make: fn(Param) -> Result<Receiver, ParamError>,
        (pointer, path): (&str, &str),
    ) -> Option<Receiver> {
        let schema = adapter.schema.and_then(|schema| schema());
        let before = self.problems.len();
        let mut refused = Vec::new();
        let mut params = node.params.clone();
        let value = self.tried(adapter, make, (pointer, path), &mut params, &mut refused);
        if let Some(schema) = schema {
            if value.is_some() {
                self.check_names(&params, adapter, &schema, pointer);
            }
            self.check_ranges(node, (adapter, &schema), pointer, &refused);
        }
        value.filter(|_| self.problems.len() == before)
    }

    /// Makes the value of a node without the params that are refused. Reports those, and adds their
    /// pointers.
    fn tried(
        &mut self,
        adapter: &Adapter,
        make: fn(Param) -> Result<Receiver, ParamError>,
        (pointer, path): (&str, &str),
        params: &mut Map<String, Value>,
        refused: &mut Vec<String>,
    ) -> Option<Receiver> {
        // Names that are missing because they are misspelt or were refused.
        let mut missed: Vec<String> = Vec::new();
        for _ in 0..MOST_REFUSED {
            let mut reader = ParamsReader {
                loader: self,
                params: pointer,
                path,
            };
            let read = reader.read(params)?;
            let (made, unprovided) = loading(&self.registry.provided, || make(read));
            let error = match made {
                Ok(value) => return Some(value),
                Err(error) => error,
            };
            let missing = error.missing();
            if missing.is_some_and(|name| missed.iter().any(|missed| missed == name)) {
                return None;
            }
            let (way, _) = error.place();
            self.report(unmade(adapter.name, params, pointer, &error, unprovided));
            refused.push(way.clone());
            // The rest is checked without it.
            let name = remove(params, &way)?;
            let near = error
                .names()
                .and_then(|names| closest(&name, names.iter().copied()));
            missed.push(near.map_or(name, str::to_owned));
        }
        None
    }

    /// Reports params outside of the ranges in the schema of a node's settings, unless they are
    /// refused already.
    fn check_ranges(
        &mut self,
        node: &NodeDocument,
        (adapter, schema): (&Adapter, &Property),
        pointer: &str,
        refused: &[String],
    ) {
        let params = Value::Object(node.params.clone());
        let name = adapter.name;
        for found in schema::refused(schema, &params) {
            if refused.contains(&found.pointer) {
                continue;
            }
            let message = format!(
                "this setting of `{name}` is out of range: {}",
                found.message
            );
            let place = format!("{pointer}{}", found.pointer);
            self.problem(Code::Malformed, place, message, found.help);
        }
    }

    /// Reports names that the schema does not have. serde knows the names of a struct, but not
    /// those of flattened parts.
    fn check_names(
        &mut self,
        params: &Map<String, Value>,
        adapter: &Adapter,
        schema: &Property,
        pointer: &str,
    ) {
        if was_read_as_struct() {
            return;
        }
        let Some(names) = schema::names(schema) else {
            return;
        };
        let unknown = params.keys().filter(|name| !names.contains(*name));
        for name in unknown.cloned().collect::<Vec<String>>() {
            let known = names.iter().map(String::as_str);
            let (message, help) = no_setting(adapter.name, &name, known);
            let place = below(pointer, &name);
            self.report(Problem {
                help,
                ..Problem::new(Code::NamesNothing, place, message).of_name()
            });
        }
    }
}

/// Removes the param at a pointer, and returns its name. `None` if there is none.
fn remove(params: &mut Map<String, Value>, pointer: &str) -> Option<String> {
    let (parent, name) = pointer.rsplit_once('/')?;
    let name = name.replace("~1", "/").replace("~0", "~");
    let mut whole = Value::Object(std::mem::take(params));
    let removed = match whole.pointer_mut(parent) {
        Some(Value::Object(fields)) => fields.remove(&name),
        _ => None,
    };
    if let Value::Object(fields) = whole {
        *params = fields;
    }
    removed.map(|_| name)
}

/// The problem of a value that cannot be made from its params.
fn unmade(
    name: &str,
    params: &Map<String, Value>,
    pointer_of_params: &str,
    error: &ParamError,
    refused: Option<DependencyError>,
) -> Problem {
    let (pointer, is_name) = error.place();
    let all = Value::Object(params.clone());
    let value = all.pointer(&pointer).filter(|_| !is_name);
    let secrets = value.map_or_else(Vec::new, references);
    let (code, message, help) = match refused {
        Some(refused) => {
            let code = match refused {
                DependencyError::Missing { .. } => Code::NamesNothing,
                DependencyError::WrongType { .. } => Code::TypeMismatch,
            };
            if secrets.is_empty() {
                (code, refused.to_string(), Some(refused.help()))
            } else {
                (code, refused.without_name(), None)
            }
        }
        None => {
            let reason = if secrets.is_empty() {
                error.to_string()
            } else {
                error.without_value().to_owned()
            };
            let (_, last) = pointer.rsplit_once('/').unwrap_or_default();
            match error.names() {
                Some(names) => {
                    let written = last.replace("~1", "/").replace("~0", "~");
                    let (message, help) = no_setting(name, &written, names.iter().copied());
                    (Code::NamesNothing, message, help)
                }
                None => {
                    let message = format!("these are not the settings of `{name}`: {reason}");
                    (Code::Malformed, message, None)
                }
            }
        }
    };
    let hidden = |text: &&str| format!("what `{text}` stands for is not shown");
    Problem {
        pointer: format!("{pointer_of_params}{pointer}"),
        is_name,
        code,
        message,
        notes: secrets.iter().map(hidden).collect(),
        related: Vec::new(),
        help,
    }
}
