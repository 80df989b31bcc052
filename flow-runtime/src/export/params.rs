//! The settings of a node as JSON, field by field: some are secret, and some cannot be written.

use std::borrow::Cow;
use std::sync::Arc;

use flow_spec::document::{MASK, escape_text};
use secrecy::zeroize::Zeroize;
use secrecy::{ExposeSecret as _, SecretBox};
use serde::Serialize;
use serde_json::{Map, Value};

/// The settings of a node, field by field. Derive it for the struct of a node to export its
/// settings: the derive says which of them are secret, and that the others are not.
///
/// A field becomes a param of the same name. It is a secret if it is marked `#[param(secret)]`, or
/// if its type is one of the crate [`secrecy`](https://docs.rs/secrecy), also in an `Option`,
/// `Vec`, `Box` or `Arc`. Unless the export asks for secrets, it is written as `***`, and `None` as
/// `null`. A field whose type is not `Serialize` is named in `paramsOmitted`.
///
/// In other texts, `${` is written as `$${` and `@cred:` as `@@cred:`, because a loader would
/// replace them with variables and credentials.
///
/// Other fields are written as serde writes them. So if a field's struct contains a secret that
/// implements `secrecy`'s `SerializableSecret`, mark the field.
///
/// [`Export`](crate::Export) has an example.
pub trait Params {
    /// Writes each field.
    fn params(&self, params: &mut ParamsWriter);
}

/// Collects what [`Params`] writes.
#[derive(Debug)]
pub struct ParamsWriter {
    include_sensitive: bool,
    written: Map<String, Value>,
    omitted: Vec<String>,
}

/// The content of one field.
#[derive(Debug)]
pub enum Param {
    /// The field's JSON.
    Value(Value),
    /// The field has no JSON.
    Opaque,
}

impl ParamsWriter {
    pub(super) fn new(include_sensitive: bool) -> Self {
        ParamsWriter {
            include_sensitive,
            written: Map::new(),
            omitted: Vec::new(),
        }
    }

    /// Writes a value that is not secret.
    pub fn value(&mut self, name: &str, value: &impl Serialize) {
        self.put(name, to_param(value));
    }

    /// Writes a secret: `***`, unless the export asks for secrets, or the value is `null`.
    pub fn secret(&mut self, name: &str, value: &impl Serialize) {
        match to_param(value) {
            param if self.include_sensitive => self.put(name, param),
            Param::Value(Value::Null) => self.put(name, Param::Value(Value::Null)),
            _ => self.mask(name),
        }
    }

    /// Names a field that cannot be written.
    pub fn omit(&mut self, name: &str) {
        self.put(name, Param::Opaque);
    }

    /// Writes a secret of the crate `secrecy`: `***`, or `null` if it is `None`.
    fn mask_secret(&mut self, name: &str, secret: &(impl Secret + ?Sized)) {
        if secret.is_absent() {
            self.put(name, Param::Value(Value::Null))
        } else {
            self.mask(name)
        }
    }

    /// Writes `***`.
    fn mask(&mut self, name: &str) {
        self.put(name, Param::Value(MASK.into()));
    }

    pub(super) fn finish(self) -> (Map<String, Value>, Vec<String>) {
        (self.written, self.omitted)
    }

    fn put(&mut self, name: &str, param: Param) {
        match param {
            Param::Value(value) => {
                self.written.insert(name.to_owned(), value);
            }
            Param::Opaque => self.omitted.push(name.to_owned()),
        }
    }
}

/// The JSON of a value, with references in its texts escaped. A value that serde cannot write as
/// JSON is as opaque as one that is not `Serialize`.
pub(super) fn to_param(value: &impl Serialize) -> Param {
    match serde_json::to_value(value) {
        Ok(mut value) => {
            escape(&mut value);
            Param::Value(value)
        }
        Err(_) => Param::Opaque,
    }
}

/// Escapes texts that a loader would read as references to variables or credentials.
fn escape(value: &mut Value) {
    match value {
        Value::String(text) => {
            if let Cow::Owned(escaped) = escape_text(text) {
                *text = escaped;
            }
        }
        Value::Array(items) => items.iter_mut().for_each(escape),
        Value::Object(fields) => fields.values_mut().for_each(escape),
        _ => {}
    }
}

/// A secret, or a type that contains secrets.
pub trait Secret {
    /// Returns true if the secret is `None`.
    fn is_absent(&self) -> bool {
        false
    }
}

impl<T: Zeroize + ?Sized> Secret for SecretBox<T> {}

impl<T: Secret> Secret for Option<T> {
    fn is_absent(&self) -> bool {
        self.as_ref().is_none_or(Secret::is_absent)
    }
}

impl<T: Secret> Secret for Vec<T> {}

impl<T: Secret + ?Sized> Secret for Box<T> {
    fn is_absent(&self) -> bool {
        (**self).is_absent()
    }
}

impl<T: Secret + ?Sized> Secret for Arc<T> {
    fn is_absent(&self) -> bool {
        (**self).is_absent()
    }
}

/// A secret that can be written if the export asks for secrets.
pub trait Expose: Secret {
    /// The secret as it is.
    fn exposed(&self) -> Param;
}

impl<T: Serialize + Zeroize + ?Sized> Expose for SecretBox<T> {
    fn exposed(&self) -> Param {
        to_param(&self.expose_secret())
    }
}

impl<T: Expose> Expose for Option<T> {
    fn exposed(&self) -> Param {
        self.as_ref()
            .map_or(Param::Value(Value::Null), Expose::exposed)
    }
}

impl<T: Expose> Expose for Vec<T> {
    fn exposed(&self) -> Param {
        let values = self.iter().map(|item| match item.exposed() {
            Param::Value(value) => Some(value),
            Param::Opaque => None,
        });
        let values: Option<Vec<Value>> = values.collect();
        values.map_or(Param::Opaque, |values| Param::Value(values.into()))
    }
}

impl<T: Expose + ?Sized> Expose for Box<T> {
    fn exposed(&self) -> Param {
        (**self).exposed()
    }
}

impl<T: Expose + ?Sized> Expose for Arc<T> {
    fn exposed(&self) -> Param {
        (**self).exposed()
    }
}

/// One field, of any type. Its type decides how it is written: the call removes a different number
/// of references for each of the traits below, and uses the first one that the type implements.
#[derive(Debug)]
pub struct ParamOf<'a, T: ?Sized> {
    /// The value of the field.
    pub value: &'a T,
    /// True if the field is marked as a secret.
    pub secret: bool,
}

/// A secret that serde can write.
pub trait ExposedParam {
    /// Writes the field.
    fn __write(&self, name: &str, params: &mut ParamsWriter);
}

/// Any other secret.
pub trait SecretParam {
    /// Writes the field.
    fn __write(&self, name: &str, params: &mut ParamsWriter);
}

/// A type that serde can write.
pub trait SerializeParam {
    /// Writes the field.
    fn __write(&self, name: &str, params: &mut ParamsWriter);
}

/// Any other type.
pub trait OpaqueParam {
    /// Records that the field is left out.
    fn __write(&self, name: &str, params: &mut ParamsWriter);
}

impl<T: Expose + ?Sized> ExposedParam for &&&ParamOf<'_, T> {
    fn __write(&self, name: &str, params: &mut ParamsWriter) {
        if params.include_sensitive {
            params.put(name, self.value.exposed())
        } else {
            params.mask_secret(name, self.value)
        }
    }
}

impl<T: Secret + ?Sized> SecretParam for &&ParamOf<'_, T> {
    fn __write(&self, name: &str, params: &mut ParamsWriter) {
        if params.include_sensitive {
            params.omit(name)
        } else {
            params.mask_secret(name, self.value)
        }
    }
}

impl<T: Serialize + ?Sized> SerializeParam for &ParamOf<'_, T> {
    fn __write(&self, name: &str, params: &mut ParamsWriter) {
        if self.secret {
            params.secret(name, &self.value)
        } else {
            params.value(name, &self.value)
        }
    }
}

impl<T: ?Sized> OpaqueParam for ParamOf<'_, T> {
    fn __write(&self, name: &str, params: &mut ParamsWriter) {
        if self.secret && !params.include_sensitive {
            params.mask(name)
        } else {
            params.omit(name)
        }
    }
}
