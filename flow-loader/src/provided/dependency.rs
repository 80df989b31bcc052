//! Values of a program that documents name.

use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;
use std::sync::Arc;

use serde::de::Visitor;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::loading;
use flow_spec::short_name;

/// A value that documents name and programs provide: a client, a model, a pool of connections.
///
/// `params` contain its name. When the document is loaded, the registry provides the value of this
/// name ([`Registry::provide`](crate::Registry::provide)); it must have this type. A clone refers
/// to the same value.
///
/// As JSON it is its name again, so that an exported flow can be loaded.
///
/// # Examples
///
/// ```
/// use std::sync::Arc;
///
/// use flow_loader::{Dependency, Format, load, registry};
/// use flow_runtime::prelude::*;
/// use serde::Deserialize;
/// use serde_json::json;
///
/// trait Model: Send + Sync {
///     fn complete(&self, prompt: &str) -> String;
/// }
///
/// struct Echo;
///
/// impl Model for Echo {
///     fn complete(&self, prompt: &str) -> String {
///         format!("{prompt}!")
///     }
/// }
///
/// #[derive(Deserialize)]
/// struct Ask {
///     model: Dependency<dyn Model>,
/// }
///
/// #[node(writes = answer)]
/// impl Ask {
///     fn exec(&self, question: &str) -> String {
///         self.model.complete(question)
///     }
/// }
///
/// const QA: &str = "
/// version: 2.0.0
/// name: Qa
/// namespace: qa
/// inputs: { type: object, properties: { question: {} }, required: [question] }
/// outputs: { type: object, properties: { answer: {} }, required: [answer] }
/// nodes:
///   - { type: Ask, id: ask, params: { model: fast } }
/// edges: []
/// ends:
///   - { from: ask, condition: default, label: default }
/// ";
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() {
/// let registry = registry![Ask].provide::<dyn Model>("fast", Arc::new(Echo));
/// let qa = load(QA, Format::Yaml, &registry).unwrap();
/// let output = qa.run(json!({ "question": "crabs" })).await.unwrap();
/// assert_eq!(output["answer"], "crabs!");
///
/// let error = load(QA.replace("fast", "fats"), Format::Yaml, &registry).unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "8:44: no `dyn Model` is provided as `fats` [F015]\n\
///      at /nodes/0/params/model\n\
///      help: did you mean `fast`?",
/// );
/// # }
/// ```
pub struct Dependency<T: ?Sized> {
    name: Arc<str>,
    value: Arc<T>,
}

impl<T: ?Sized> Dependency<T> {
    /// Creates a named value for a compiled flow.
    pub fn new(name: impl Into<Arc<str>>, value: Arc<T>) -> Self {
        Dependency {
            name: name.into(),
            value,
        }
    }

    /// Returns the name by which documents know it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the value itself.
    pub fn into_inner(self) -> Arc<T> {
        self.value
    }
}

impl<T: ?Sized> Deref for Dependency<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T: ?Sized> Clone for Dependency<T> {
    fn clone(&self) -> Self {
        Dependency {
            name: self.name.clone(),
            value: self.value.clone(),
        }
    }
}

/// Shows the name: the value may not be `Debug`.
impl<T: ?Sized> fmt::Debug for Dependency<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Dependency").field(&self.name).finish()
    }
}

impl<T: ?Sized> Serialize for Dependency<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.name)
    }
}

/// A text, with the type of the value as `rustType`. For the names, see
/// [`Catalog::dependencies`](crate::Catalog::dependencies).
#[cfg(feature = "schemars")]
impl<T: ?Sized> schemars::JsonSchema for Dependency<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        format!("Dependency<{}>", short_name(std::any::type_name::<T>())).into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "rustType": Self::schema_name() })
    }
}

/// Reads the name, and takes the value of this name. Fails unless a flow is being loaded.
impl<'de, T: ?Sized + Send + Sync + 'static> Deserialize<'de> for Dependency<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(Name(PhantomData))
    }
}

/// Takes the value of the name that it reads.
struct Name<T: ?Sized>(PhantomData<fn() -> T>);

impl<T: ?Sized + Send + Sync + 'static> Visitor<'_> for Name<T> {
    type Value = Dependency<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let wanted = short_name(std::any::type_name::<T>());
        write!(f, "the name of a `{wanted}`")
    }

    fn visit_str<E: serde::de::Error>(self, name: &str) -> Result<Self::Value, E> {
        let Some(provided) = loading::provided() else {
            return Err(E::custom(format_args!(
                "`{name}` is the name of a dependency, which is known only while a flow is loaded"
            )));
        };
        provided.dependency(name).map_err(|error| {
            let message = E::custom(&error);
            loading::refuse(error);
            message
        })
    }
}

/// The reason why there is no dependency of a name and a type.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum DependencyError {
    /// No value of this name is provided.
    #[non_exhaustive]
    Missing {
        /// The name.
        name: String,
        /// The requested type, as rustc writes it.
        wanted: &'static str,
        /// The names under which values of this type are provided.
        known: Vec<String>,
    },
    /// The value that is provided under this name has another type.
    #[non_exhaustive]
    WrongType {
        /// The name.
        name: String,
        /// The provided type, as rustc writes it.
        provided: &'static str,
        /// The requested type.
        wanted: &'static str,
        /// The names under which values of this type are provided.
        known: Vec<String>,
    },
}

impl DependencyError {
    /// Help for fixing the document or the program.
    pub(crate) fn help(&self) -> String {
        let (DependencyError::Missing {
            name,
            wanted,
            known,
        }
        | DependencyError::WrongType {
            name,
            wanted,
            known,
            ..
        }) = self;
        let known = known.iter().map(String::as_str);
        flow_spec::did_you_mean(name, known).unwrap_or_else(|| {
            let wanted = short_name(wanted);
            format!("provide it: `registry.provide::<{wanted}>(\"{name}\", …)`")
        })
    }
}

impl DependencyError {
    /// The message without the name, which may be secret.
    pub(crate) fn without_name(&self) -> String {
        match self {
            DependencyError::Missing { wanted, .. } => {
                format!("no `{}` is provided under this name", short_name(wanted))
            }
            DependencyError::WrongType { wanted, .. } => {
                format!(
                    "what is provided under this name is not a `{}`",
                    short_name(wanted)
                )
            }
        }
    }
}

impl fmt::Display for DependencyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DependencyError::Missing { name, wanted, .. } => {
                write!(f, "no `{}` is provided as `{name}`", short_name(wanted))
            }
            DependencyError::WrongType {
                name,
                provided,
                wanted,
                ..
            } => {
                let short = [short_name(provided), short_name(wanted)];
                let [provided, wanted] = if short[0] == short[1] {
                    [(*provided).to_owned(), (*wanted).to_owned()]
                } else {
                    short
                };
                write!(f, "`{name}` is a `{provided}`, and a `{wanted}` is needed")
            }
        }
    }
}

impl std::error::Error for DependencyError {}
