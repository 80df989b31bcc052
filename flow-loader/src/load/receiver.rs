//! The values of nodes of types with settings.

use flow_spec::document::types;
use flow_spec::{Code, FlowDocument, NodeDocument, Problem, node_path};
use serde_json::Value;

use crate::adapter::{Adapter, Make, Receiver};
use crate::params::ParamError;
use crate::provided::{DependencyError, loading};

use super::Loader;
use super::params::{ParamsReader, references};

impl Loader<'_> {
    /// Reports what is wrong with the settings of the nodes of a flow that is not built, because
    /// something else is wrong with it.
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
        let is_human = node.r#type == types::HUMAN;
        let unwanted = !node.params.is_empty() && !is_human;
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
                let mut reader = ParamsReader {
                    loader: self,
                    params: &pointer,
                    path,
                };
                let params = reader.read(&node.params)?;
                let (made, refused) = loading(&self.registry.provided, || make(params));
                let value = made.map_err(|error| {
                    self.report(unmade(name, node, &pointer, &error, refused));
                });
                return value.ok().map(Some);
            }
        };
        self.problem(Code::Document, pointer, message, Some(help));
        None
    }
}

/// Says why a value cannot be made from its params.
fn unmade(
    name: &str,
    node: &NodeDocument,
    params: &str,
    error: &ParamError,
    refused: Option<DependencyError>,
) -> Problem {
    let (pointer, is_name) = error.place();
    let all = Value::Object(node.params.clone());
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
            let message = format!("these are not the settings of `{name}`: {reason}");
            (Code::Malformed, message, None)
        }
    };
    let hidden = |text: &&str| format!("what `{text}` stands for is not shown");
    Problem {
        pointer: format!("{params}{pointer}"),
        is_name,
        code,
        message,
        notes: secrets.iter().map(hidden).collect(),
        related: Vec::new(),
        help,
    }
}
