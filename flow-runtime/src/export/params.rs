//! The settings of a node as JSON, field by field: some are secret, and some cannot be written.

use flow_spec::document::MASK;
use secrecy::zeroize::Zeroize;
use secrecy::{ExposeSecret as _, SecretBox};
use serde::Serialize;
use serde_json::{Map, Value};

/// The settings of a node, field by field. Derive it where some of them are secret or are not `Serialize`.
///
/// A field becomes a param of its name in camelCase. Marked `#[param(secret)]`, or of a type of the crate
/// [`secrecy`](https://docs.rs/secrecy), it is written as `***`, unless the export asks for secrets. A field whose type
/// is not `Serialize` is named in `paramsOmitted`.
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
pub(super) enum Param {
    Value(Value),
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

    /// Writes what is no secret.
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
    #[doc(hidden)]
    pub fn mask(&mut self, name: &str) {
        self.put(name, Param::Value(MASK.into()));
    }

    #[doc(hidden)]
    pub fn include_sensitive(&self) -> bool {
        self.include_sensitive
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

/// One field, of whatever type: what can be done with it is found by the number of references that a call has to take
/// away. The first of the traits below that its type has is the one that is called.
#[derive(Debug)]
pub struct ParamOf<'a, T: ?Sized> {
    /// The field.
    pub value: &'a T,
    /// It is marked as a secret.
    pub secret: bool,
}

/// A type of the crate `secrecy`.
pub trait SecretParam {
    /// Writes it.
    fn write(&self, name: &str, params: &mut ParamsWriter);
}

/// A type that serde can write.
pub trait SerializeParam {
    /// Writes it.
    fn write(&self, name: &str, params: &mut ParamsWriter);
}

/// Any other type.
pub trait OpaqueParam {
    /// Says that it is not there.
    fn write(&self, name: &str, params: &mut ParamsWriter);
}

impl<T: Serialize + Zeroize + ?Sized> SecretParam for &&ParamOf<'_, SecretBox<T>> {
    fn write(&self, name: &str, params: &mut ParamsWriter) {
        params.secret(name, &self.value.expose_secret());
    }
}

impl<T: Serialize + ?Sized> SerializeParam for &ParamOf<'_, T> {
    fn write(&self, name: &str, params: &mut ParamsWriter) {
        match self.secret {
            true => params.secret(name, &self.value),
            false => params.value(name, &self.value),
        }
    }
}

impl<T: ?Sized> OpaqueParam for ParamOf<'_, T> {
    fn write(&self, name: &str, params: &mut ParamsWriter) {
        match self.secret && !params.include_sensitive() {
            true => params.mask(name),
            false => params.omit(name),
        }
    }
}
