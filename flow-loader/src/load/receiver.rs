//! The values of nodes of types with settings.

use flow_spec::document::types;
use flow_spec::{Code, NodeDocument};
use serde_json::Value;

use crate::adapter::{Adapter, Make, Receiver};

use super::Loader;
use super::ports::Parts;

impl Loader<'_> {
    /// The value of a node of a type with settings.
    pub(super) fn receiver(
        &mut self,
        parts: &Parts<'_>,
        index: usize,
        node: &NodeDocument,
        adapter: &Adapter,
    ) -> Option<Option<Receiver>> {
        let pointer = format!("{}/params", parts.node_pointer(index));
        let is_human = node.r#type == types::HUMAN;
        let unwanted = !node.params.is_empty() && !is_human;
        let refuse = |message: String, help: String, loader: &mut Self| {
            loader.problem(Code::Document, pointer.clone(), message, Some(help));
            None
        };
        match &adapter.make {
            Make::Nothing if unwanted => {
                let message = format!("`{}` is a function, and has no settings", adapter.name);
                refuse(message, "remove `params`".to_owned(), self)
            }
            Make::Nothing => Some(None),
            Make::Given(_) | Make::Default(_) if unwanted => {
                let message = format!(
                    "the value of `{}` does not come from the document",
                    adapter.name
                );
                let help = "remove `params`, or derive `serde::Deserialize` for the type and register it without a value";
                refuse(message, help.to_owned(), self)
            }
            Make::Given(value) => Some(Some(value.clone())),
            Make::Default(make) => Some(Some(make())),
            Make::FromParams(make) => match make(Value::Object(node.params.clone())) {
                Ok(value) => Some(Some(value)),
                Err(error) => {
                    let message =
                        format!("these are not the settings of `{}`: {error}", adapter.name);
                    self.problem(Code::Malformed, pointer, message, None);
                    None
                }
            },
            Make::Missing => {
                let message = format!("nothing says what the value of `{}` is", adapter.name);
                let help = format!(
                    "register it with a value, `registry![{0} = {0} {{ … }}]`, or derive `serde::Deserialize` for it",
                    adapter.name
                );
                refuse(message, help, self)
            }
        }
    }
}
