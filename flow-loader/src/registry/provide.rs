//! Values that a registry provides beside its nodes.

use std::sync::Arc;

use super::Registry;
use crate::provided::{Credentials, Dependency, DependencyError};

impl Registry {
    /// Provides a value to documents, which they name in `params`: see [`Dependency`]. It replaces
    /// one of the same name.
    ///
    /// If the node requires a trait object, the type has to be written, as in
    /// `registry.provide::<dyn Model>("fast", Arc::new(model))`.
    #[must_use]
    pub fn provide<T>(self, name: impl Into<String>, value: Arc<T>) -> Self
    where
        T: ?Sized + Send + Sync + 'static,
    {
        self.provide_with(name, || value)
    }

    /// Provides a value that is made when it is first requested, once for this registry and its
    /// clones, like [`provide`](Self::provide).
    ///
    /// # Panics
    ///
    /// This method does not panic. If `make` does, so does each load of a document that requests
    /// the value.
    #[must_use]
    pub fn provide_with<T>(
        mut self,
        name: impl Into<String>,
        make: impl FnOnce() -> Arc<T> + Send + 'static,
    ) -> Self
    where
        T: ?Sized + Send + Sync + 'static,
    {
        Arc::make_mut(&mut self.provided).add(name.into(), make);
        self
    }

    /// Provides the values of `@cred:name` in `params`: see [`Credentials`]. Replaces credentials
    /// that were provided before.
    #[must_use]
    pub fn provide_credentials(mut self, credentials: impl Credentials + 'static) -> Self {
        Arc::make_mut(&mut self.provided).credentials = Some(Arc::new(credentials));
        self
    }

    /// Provides the values of `${NAME}` in `params`: the [`Environment`](crate::Environment), or
    /// anything else with names. Replaces variables that were provided before.
    #[must_use]
    pub fn provide_variables(mut self, variables: impl Credentials + 'static) -> Self {
        Arc::make_mut(&mut self.provided).variables = Some(Arc::new(variables));
        self
    }

    /// Returns the value that is provided under this name.
    ///
    /// # Errors
    ///
    /// No value is provided under this name, or it has another type.
    pub fn dependency<T>(&self, name: &str) -> Result<Dependency<T>, DependencyError>
    where
        T: ?Sized + Send + Sync + 'static,
    {
        self.provided.dependency(name)
    }

    /// Returns the names of the provided values, sorted, each with its type as rustc writes it.
    pub fn dependencies(&self) -> impl Iterator<Item = (&str, &'static str)> {
        self.provided.dependencies()
    }
}
