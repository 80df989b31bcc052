//! Values that a program provides to the documents that it loads.

mod credentials;
mod dependency;
#[cfg(feature = "credential-file")]
mod each_once;
#[cfg(feature = "credential-file")]
mod file;
mod loading;
mod lookup;

use std::any::{Any, TypeId, type_name};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, LazyLock};

pub use credentials::{Credentials, Environment};
pub use dependency::{Dependency, DependencyError};
#[cfg(feature = "credential-file")]
pub use file::{CredentialFile, CredentialFileError, CredentialKey};
pub(crate) use loading::{accepted, loading};
pub(crate) use lookup::Missing;

/// The values that a program provides to documents, by name.
#[derive(Clone, Default)]
pub(crate) struct Provided {
    dependencies: BTreeMap<String, Entry>,
    /// The values of `@cred:name`.
    pub(crate) credentials: Option<Arc<dyn Credentials>>,
    /// The values of `${NAME}`.
    pub(crate) variables: Option<Arc<dyn Credentials>>,
}

/// A provided value.
#[derive(Clone)]
struct Entry {
    id: TypeId,
    /// The type, as rustc writes it.
    type_name: &'static str,
    /// An `Arc<T>`, made when it is first requested.
    value: Arc<Lazy>,
}

/// An `Arc<T>` of any `T`.
type Shared = Box<dyn Any + Send + Sync>;

type Lazy = LazyLock<Shared, Box<dyn FnOnce() -> Shared + Send>>;

impl Provided {
    /// Adds a value. Replaces any other of the name.
    pub(crate) fn add<T: ?Sized + Send + Sync + 'static>(
        &mut self,
        name: String,
        make: impl FnOnce() -> Arc<T> + Send + 'static,
    ) {
        let make: Box<dyn FnOnce() -> Shared + Send> = Box::new(move || Box::new(make()));
        let entry = Entry {
            id: TypeId::of::<T>(),
            type_name: type_name::<T>(),
            value: Arc::new(LazyLock::new(make)),
        };
        self.dependencies.insert(name, entry);
    }

    /// Adds the provided values of another one, replacing those with the same name.
    pub(crate) fn extend(&mut self, other: &Provided) {
        let dependencies = other.dependencies.iter();
        self.dependencies
            .extend(dependencies.map(|(name, entry)| (name.clone(), entry.clone())));
        let credentials = [
            (&mut self.credentials, &other.credentials),
            (&mut self.variables, &other.variables),
        ];
        for (own, other) in credentials {
            if let Some(other) = other {
                *own = Some(other.clone());
            }
        }
    }

    /// The value of a name, if it has this type.
    pub(crate) fn dependency<T: ?Sized + Send + Sync + 'static>(
        &self,
        name: &str,
    ) -> Result<Dependency<T>, DependencyError> {
        let wanted = type_name::<T>();
        let Some(entry) = self.dependencies.get(name) else {
            return Err(DependencyError::Missing {
                name: name.to_owned(),
                wanted,
                known: self.of_type::<T>(),
            });
        };
        if entry.id != TypeId::of::<T>() {
            return Err(DependencyError::WrongType {
                name: name.to_owned(),
                provided: entry.type_name,
                wanted,
                known: self.of_type::<T>(),
            });
        }
        match (***entry.value).downcast_ref::<Arc<T>>() {
            Some(value) => Ok(Dependency::new(name, value.clone())),
            None => unreachable!("the value was added with its type"),
        }
    }

    /// All names, each with the type of its value.
    pub(crate) fn dependencies(&self) -> impl Iterator<Item = (&str, &'static str)> {
        let dependencies = self.dependencies.iter();
        dependencies.map(|(name, entry)| (name.as_str(), entry.type_name))
    }

    /// The names of the values of a type.
    fn of_type<T: ?Sized + 'static>(&self) -> Vec<String> {
        let of_type = |entry: &Entry| entry.id == TypeId::of::<T>();
        let all = self.dependencies.iter();
        all.filter(|(_, entry)| of_type(entry))
            .map(|(name, _)| name.clone())
            .collect()
    }
}

impl fmt::Debug for Provided {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&String> = self.dependencies.keys().collect();
        f.debug_struct("Provided")
            .field("dependencies", &names)
            .finish_non_exhaustive()
    }
}
