//! The settings of a node as JSON, field by field: some are secret, and some cannot be written.

use std::sync::Arc;

use flow_spec::document::MASK;
use secrecy::zeroize::Zeroize;
use secrecy::{ExposeSecret as _, SecretBox};
use serde::Serialize;
use serde_json::{Map, Value};

/// The settings of a node, field by field. Derive it for the struct of a node whose settings are to
/// be exported: the derive says which of them are secret, and of the others that they are not.
///
/// A field becomes a param of its name. Marked `#[param(secret)]`, or of a type of the crate
/// [`secrecy`](https://docs.rs/secrecy), also in an `Option`, `Vec`, `Box` or `Arc`, it is written as `***`, unless the
/// export asks for secrets. A field whose type is not `Serialize` is named in `paramsOmitted`.
///
/// What serde itself writes of a field is written as it is: of a struct with a secret in it that
/// implements `secrecy`'s `SerializableSecret`, mark the field.
///
/// [`Export`](crate::Export) has an example.
pub trait Params {
    /// Writes each field.
    fn params(&self, params: &mut ParamsWriter);
}

/// Where [`Params`] writes to.
#[derive(Debug)]
pub struct ParamsWriter {
    include_sensitive: bool,
    written: Map<String, Value>,
    omitted: Vec<String>,
}

/// What there is to say of one field.
#[derive(Debug)]
pub enum Param {
    /// Its JSON.
    Value(Value),
    /// That it has none.
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

    /// Writes what is not a secret.
    pub fn value(&mut self, name: &str, value: &impl Serialize) {
        self.put(name, to_param(value));
    }

    /// Writes a secret: `***`, unless the export asks for secrets.
    pub fn secret(&mut self, name: &str, value: &impl Serialize) {
        match self.include_sensitive {
            true => self.value(name, value),
            false => self.mask(name),
        }
    }

    /// Names what cannot be written.
    pub fn omit(&mut self, name: &str) {
        self.put(name, Param::Opaque);
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

/// A value that serde cannot write as JSON is as opaque as one that is not `Serialize`.
pub(super) fn to_param(value: &impl Serialize) -> Param {
    serde_json::to_value(value).map_or(Param::Opaque, Param::Value)
}

/// A secret, or what holds secrets.
pub trait Secret {}

impl<T: Zeroize + ?Sized> Secret for SecretBox<T> {}
impl<T: Secret> Secret for Option<T> {}
impl<T: Secret> Secret for Vec<T> {}
impl<T: Secret + ?Sized> Secret for Box<T> {}
impl<T: Secret + ?Sized> Secret for Arc<T> {}

/// A secret that can be written if the export asks for secrets.
pub trait Expose: Secret {
    /// It, as it is.
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

/// One field, of whatever type: what can be done with it is found by the number of references that
/// a call has to take away. The first of the traits below that its type has is the one that is
/// called.
#[derive(Debug)]
pub struct ParamOf<'a, T: ?Sized> {
    /// The field.
    pub value: &'a T,
    /// It is marked as a secret.
    pub secret: bool,
}

/// A secret that serde can write.
pub trait ExposedParam {
    /// Writes it.
    fn __write(&self, name: &str, params: &mut ParamsWriter);
}

/// Any other secret.
pub trait SecretParam {
    /// Writes it.
    fn __write(&self, name: &str, params: &mut ParamsWriter);
}

/// A type that serde can write.
pub trait SerializeParam {
    /// Writes it.
    fn __write(&self, name: &str, params: &mut ParamsWriter);
}

/// Any other type.
pub trait OpaqueParam {
    /// Says that it is not there.
    fn __write(&self, name: &str, params: &mut ParamsWriter);
}

impl<T: Expose + ?Sized> ExposedParam for &&&ParamOf<'_, T> {
    fn __write(&self, name: &str, params: &mut ParamsWriter) {
        match params.include_sensitive {
            true => params.put(name, self.value.exposed()),
            false => params.mask(name),
        }
    }
}

impl<T: Secret + ?Sized> SecretParam for &&ParamOf<'_, T> {
    fn __write(&self, name: &str, params: &mut ParamsWriter) {
        match params.include_sensitive {
            true => params.omit(name),
            false => params.mask(name),
        }
    }
}

impl<T: Serialize + ?Sized> SerializeParam for &ParamOf<'_, T> {
    fn __write(&self, name: &str, params: &mut ParamsWriter) {
        match self.secret {
            true => params.secret(name, &self.value),
            false => params.value(name, &self.value),
        }
    }
}

impl<T: ?Sized> OpaqueParam for ParamOf<'_, T> {
    fn __write(&self, name: &str, params: &mut ParamsWriter) {
        match self.secret && !params.include_sensitive {
            true => params.mask(name),
            false => params.omit(name),
        }
    }
}
