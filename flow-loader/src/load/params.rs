//! The `params` of nodes, with the credentials and variables in their texts.

use flow_spec::Code;
use flow_spec::document::{TextPart, text_parts};
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::{Map, Value};

use crate::params::{Param, below};
use crate::provided::Missing;

use super::Loader;

/// The maximum size in bytes of all texts with credentials and variables, once these are read: the
/// same as for a document, which could name a long one a million times.
const MOST_RESOLVED: usize = flow_text::LARGEST;

/// Reads the params of one node.
pub(super) struct ParamsReader<'l, 'r> {
    pub(super) loader: &'l mut Loader<'r>,
    /// The JSON pointer of the params.
    pub(super) params: &'l str,
    /// The path of the node.
    pub(super) path: &'l str,
}

impl ParamsReader<'_, '_> {
    /// Reads the params. `None` if something is missing, which is reported.
    pub(super) fn read(&mut self, params: &Map<String, Value>) -> Option<Param> {
        self.object(params, "")
    }

    fn object(&mut self, fields: &Map<String, Value>, pointer: &str) -> Option<Param> {
        let fields = fields.iter();
        let fields = fields.map(|(name, value)| {
            let value = self.value(value, &below(pointer, name))?;
            Some((name.clone(), value))
        });
        // All fields are read, so that everything missing is reported.
        let fields: Vec<Option<(String, Param)>> = fields.collect();
        fields.into_iter().collect::<Option<_>>().map(Param::Object)
    }

    fn list(&mut self, items: &[Value], pointer: &str) -> Option<Param> {
        let items = items.iter().enumerate();
        let items =
            items.map(|(index, value)| self.value(value, &below(pointer, &index.to_string())));
        let items: Vec<Option<Param>> = items.collect();
        items.into_iter().collect::<Option<_>>().map(Param::List)
    }

    fn value(&mut self, value: &Value, pointer: &str) -> Option<Param> {
        match value {
            Value::Null => Some(Param::Null),
            Value::Bool(value) => Some(Param::Bool(*value)),
            Value::Number(value) => Some(Param::Number(value.clone())),
            Value::String(text) => self.text(text, pointer),
            Value::Array(items) => self.list(items, pointer),
            Value::Object(fields) => self.object(fields, pointer),
        }
    }

    fn text(&mut self, text: &str, pointer: &str) -> Option<Param> {
        let parts = match text_parts(text) {
            Ok(parts) => parts,
            Err(error) => {
                let help = Some(error.help().to_owned());
                self.problem(Code::Malformed, pointer, error.to_string(), help);
                return None;
            }
        };
        match parts.as_slice() {
            [] => return Some(Param::Text(String::new())),
            [TextPart::Literal(text)] => return Some(Param::Text(text.clone())),
            _ => {}
        }
        let parts = parts.iter().map(|part| self.part(part, pointer));
        let parts: Vec<Option<SecretString>> = parts.collect();
        let parts: Vec<SecretString> = parts.into_iter().collect::<Option<_>>()?;
        let parts = parts.iter().map(SecretString::expose_secret);
        Some(Param::Loose(parts.collect::<String>().into()))
    }

    fn part(&mut self, part: &TextPart<'_>, pointer: &str) -> Option<SecretString> {
        if self.loader.resolved_bytes > MOST_RESOLVED {
            return None;
        }
        let secret = match self.secret(part, pointer) {
            Ok(secret) => secret,
            Err(Missing { message, help }) => {
                self.problem(Code::NamesNothing, pointer, message, help);
                return None;
            }
        };
        self.loader.resolved_bytes += secret.expose_secret().len();
        if self.loader.resolved_bytes > MOST_RESOLVED {
            let most = MOST_RESOLVED >> 20;
            let message =
                format!("the texts with credentials and variables take more than {most} MiB");
            let help = Some("name them in fewer places".to_owned());
            self.problem(Code::Document, pointer, message, help);
            return None;
        }
        Some(secret)
    }

    fn secret(&self, part: &TextPart<'_>, pointer: &str) -> Result<SecretString, Missing> {
        let provided = &self.loader.registry.provided;
        match part {
            TextPart::Literal(text) => Ok(text.as_str().into()),
            TextPart::Variable(name) => provided.variable(name),
            TextPart::Credential(name) => provided.credential(name),
            TextPart::Masked => {
                let names = pointer.strip_prefix('/').unwrap_or(pointer);
                let names = names
                    .replace('/', ".")
                    .replace("~1", "/")
                    .replace("~0", "~");
                provided.masked(self.path, &names)
            }
        }
    }

    fn problem(&mut self, code: Code, pointer: &str, message: String, help: Option<String>) {
        let pointer = format!("{}{pointer}", self.params);
        self.loader.problem(code, pointer, message, help);
    }
}

/// The texts in a value that contain references, whose values may be secret.
pub(super) fn references(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) => match text_parts(text).as_deref() {
            Ok([] | [TextPart::Literal(_)]) => Vec::new(),
            _ => vec![text],
        },
        Value::Array(items) => items.iter().flat_map(references).collect(),
        Value::Object(fields) => fields.values().flat_map(references).collect(),
        _ => Vec::new(),
    }
}
