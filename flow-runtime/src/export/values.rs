//! The values that a flow passes to its export: the settings of its nodes, and the schemas of its
//! values.

use serde::Serialize;
use serde_json::{Map, Value};

use super::Export;
use super::params::{Param, Params, ParamsWriter, to_param};

/// The values of a flow's settings. Generated code fills it in.
#[derive(Debug)]
pub struct Values {
    pub(super) include_sensitive: bool,
    /// True if defaults and schemas are left out. A default is an expression of the user.
    settings_only: bool,
    pub(super) nodes: Vec<(&'static str, NodeParams)>,
    pub(super) flows: Vec<(&'static str, Values)>,
    pub(super) schemas: Vec<(&'static str, Map<String, Value>)>,
    pub(super) defaults: Vec<(&'static str, Value)>,
}

/// The settings of one node.
#[derive(Debug)]
pub struct NodeParams {
    pub(super) params: Map<String, Value>,
    pub(super) omitted: Vec<String>,
}

impl Values {
    pub(super) fn new(include_sensitive: bool) -> Self {
        Values {
            include_sensitive,
            settings_only: false,
            nodes: Vec::new(),
            flows: Vec::new(),
            schemas: Vec::new(),
            defaults: Vec::new(),
        }
    }

    /// Creates an empty collection for settings only, without secrets.
    #[cfg(feature = "stored")]
    pub(super) fn settings() -> Self {
        Values {
            settings_only: true,
            ..Values::new(false)
        }
    }

    /// Adds the settings of a node.
    pub fn node(&mut self, id: &'static str, params: impl FnOnce(bool) -> NodeParams) {
        self.nodes.push((id, params(self.include_sensitive)));
    }

    /// Adds the settings of a flow that is a node.
    pub fn flow<F: Export>(&mut self, id: &'static str, flow: &F) {
        let mut values = Values {
            settings_only: self.settings_only,
            ..Values::new(self.include_sensitive)
        };
        flow.__collect(&mut values);
        self.flows.push((id, values));
    }

    /// Adds the default of an input, if it is JSON.
    pub fn default(&mut self, input: &'static str, default: impl FnOnce() -> Option<Value>) {
        if self.settings_only {
            return;
        }
        self.defaults
            .extend(default().map(|default| (input, default)));
    }

    /// Adds the schema of the values of a key, if its type has one.
    #[cfg(feature = "schemars")]
    pub fn schema(
        &mut self,
        key: &'static str,
        schema: impl FnOnce() -> Option<Map<String, Value>>,
    ) {
        if self.settings_only {
            return;
        }
        self.schemas.extend(schema().map(|schema| (key, schema)));
    }
}

impl NodeParams {
    /// All settings under their names. A value that is not a struct is under `value`.
    fn of(param: Param) -> Self {
        let (params, omitted) = match param {
            Param::Value(Value::Object(params)) => (params, Vec::new()),
            Param::Value(Value::Null) => (Map::new(), Vec::new()),
            Param::Value(value) => (Map::from_iter([("value".to_owned(), value)]), Vec::new()),
            Param::Opaque => (Map::new(), vec!["*".to_owned()]),
        };
        NodeParams { params, omitted }
    }

    /// Leaves out all settings of a value of this type. A type without fields has none.
    fn omitted<T>() -> Self {
        NodeParams::of(match size_of::<T>() {
            0 => Param::Value(Value::Null),
            _ => Param::Opaque,
        })
    }
}

/// The value of a node, of any type: see [`ParamOf`](super::params::ParamOf).
#[derive(Debug)]
pub struct SettingsOf<'a, T>(pub &'a T);

/// A type that derives `Params`.
pub trait ParamsSettings {
    /// Its settings.
    fn __settings(&self, include_sensitive: bool) -> NodeParams;
}

/// A type that serde can write. It does not say which of its fields are secret, so any of them may
/// be.
pub trait SerializeSettings {
    /// Its settings.
    fn __settings(&self, include_sensitive: bool) -> NodeParams;
}

/// Any other type.
pub trait OpaqueSettings {
    /// Returns settings that are marked as left out.
    fn __settings(&self, include_sensitive: bool) -> NodeParams;
}

impl<T: Params> ParamsSettings for &&SettingsOf<'_, T> {
    fn __settings(&self, include_sensitive: bool) -> NodeParams {
        let mut writer = ParamsWriter::new(include_sensitive);
        self.0.params(&mut writer);
        let (params, omitted) = writer.finish();
        NodeParams { params, omitted }
    }
}

impl<T: Serialize> SerializeSettings for &SettingsOf<'_, T> {
    fn __settings(&self, include_sensitive: bool) -> NodeParams {
        if include_sensitive {
            NodeParams::of(to_param(self.0))
        } else {
            NodeParams::omitted::<T>()
        }
    }
}

impl<T> OpaqueSettings for SettingsOf<'_, T> {
    fn __settings(&self, _: bool) -> NodeParams {
        NodeParams::omitted::<T>()
    }
}

/// The default of an input, of any type. Its trait is found as for [`SettingsOf`].
#[derive(Debug)]
pub struct DefaultOf<'a, T>(pub &'a T);

/// A type that serde can write.
pub trait SerializeDefault {
    /// The default as JSON.
    fn __default(&self) -> Option<Value>;
}

/// Any other type.
pub trait OpaqueDefault {
    /// Returns `None`.
    fn __default(&self) -> Option<Value>;
}

impl<T: Serialize> SerializeDefault for &DefaultOf<'_, T> {
    fn __default(&self) -> Option<Value> {
        serde_json::to_value(self.0).ok()
    }
}

impl<T> OpaqueDefault for DefaultOf<'_, T> {
    fn __default(&self) -> Option<Value> {
        None
    }
}

/// The type of a key. Its trait is found as for [`SettingsOf`].
#[cfg(feature = "schemars")]
#[derive(Debug)]
pub struct SchemaOf<T>(pub std::marker::PhantomData<fn() -> T>);

/// A type that implements `JsonSchema`.
#[cfg(feature = "schemars")]
pub trait UserSchema {
    /// Its schema.
    fn __schema(&self) -> Option<Map<String, Value>>;
}

/// Any other type.
#[cfg(feature = "schemars")]
pub trait NoSchema {
    /// Returns `None`.
    fn __schema(&self) -> Option<Map<String, Value>>;
}

#[cfg(feature = "schemars")]
impl<T: schemars::JsonSchema> UserSchema for &SchemaOf<T> {
    fn __schema(&self) -> Option<Map<String, Value>> {
        let settings = schemars::generate::SchemaSettings::draft2020_12().with(|settings| {
            settings.inline_subschemas = true;
            settings.meta_schema = None;
        });
        match settings
            .into_generator()
            .into_root_schema_for::<T>()
            .to_value()
        {
            Value::Object(schema) => Some(schema),
            _ => None,
        }
    }
}

#[cfg(feature = "schemars")]
impl<T> NoSchema for SchemaOf<T> {
    fn __schema(&self) -> Option<Map<String, Value>> {
        None
    }
}
