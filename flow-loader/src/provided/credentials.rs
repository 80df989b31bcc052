//! Secrets that documents name.

use std::collections::{BTreeMap, BTreeSet};
use std::env::{self, VarError};
use std::error::Error;
use std::sync::Arc;

use secrecy::SecretString;

/// Secrets by name, for documents that do not contain them.
///
/// A registry has two sets of them. [`Registry::provide_credentials`] sets the values of
/// `@cred:name` in `params`, and of `***`, which an export writes for a secret.
/// [`Registry::provide_variables`] sets the values of `${NAME}`. A document can read everything
/// that it is provided with, so provide no more than its author may know.
///
/// The loader puts the secrets into the values of nodes and nowhere else: documents, structures and
/// errors contain only their names.
///
/// # Examples
///
/// ```
/// use std::collections::BTreeMap;
///
/// use flow_loader::{Environment, Format, load, registry};
/// use flow_runtime::prelude::*;
/// use serde::Deserialize;
/// use serde_json::json;
///
/// #[derive(Deserialize)]
/// struct Fetch {
///     url: String,
///     port: u16,
///     token: String,
/// }
///
/// #[node(writes = page)]
/// impl Fetch {
///     fn exec(&self, path: &str) -> String {
///         format!("{}:{}/{path}, {} letters", self.url, self.port, self.token.len())
///     }
/// }
///
/// const PAGE: &str = "
/// version: 2.0.0
/// name: Page
/// namespace: page
/// inputs: { type: object, properties: { path: {} }, required: [path] }
/// outputs: { type: object, properties: { page: {} }, required: [page] }
/// nodes:
///   - type: Fetch
///     id: fetch
///     params: { url: 'https://${HOST}', port: '${PORT}', token: '@cred:pages' }
/// edges: []
/// ends:
///   - { from: fetch, condition: default, label: default }
/// ";
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() {
/// let registry = registry![Fetch]
///     .provide_variables(BTreeMap::from([
///         ("HOST".to_owned(), "example.org".into()),
///         ("PORT".to_owned(), "8080".into()),
///     ]))
///     .provide_credentials(BTreeMap::from([("pages".to_owned(), "s3cr3t".into())]));
/// let page = load(PAGE, Format::Yaml, &registry).unwrap();
/// let output = page.run(json!({ "path": "crabs" })).await.unwrap();
/// assert_eq!(output["page"], "https://example.org:8080/crabs, 6 letters");
///
/// let misspelt = PAGE.replace("@cred:pages", "@cred:page");
/// assert_eq!(
///     load(misspelt, Format::Yaml, &registry).unwrap_err().to_string(),
///     "10:63: there is no credential `page` [F015]\n\
///      at /nodes/0/params/token\n\
///      help: did you mean `pages`?",
/// );
/// # }
/// ```
///
/// [`Registry::provide_credentials`]: crate::Registry::provide_credentials
/// [`Registry::provide_variables`]: crate::Registry::provide_variables
pub trait Credentials: Send + Sync {
    /// Returns the secret of a name, or `None` if there is none.
    ///
    /// # Errors
    ///
    /// It cannot be read. The error is shown, so it must not contain the secret.
    fn get(&self, name: &str) -> Result<Option<SecretString>, Box<dyn Error + Send + Sync>>;

    /// Returns the names that may be suggested for a misspelt one.
    fn names(&self) -> Vec<String> {
        Vec::new()
    }
}

impl<C: Credentials + ?Sized> Credentials for Arc<C> {
    fn get(&self, name: &str) -> Result<Option<SecretString>, Box<dyn Error + Send + Sync>> {
        (**self).get(name)
    }

    fn names(&self) -> Vec<String> {
        (**self).names()
    }
}

impl Credentials for BTreeMap<String, SecretString> {
    fn get(&self, name: &str) -> Result<Option<SecretString>, Box<dyn Error + Send + Sync>> {
        Ok(BTreeMap::get(self, name).cloned())
    }

    fn names(&self) -> Vec<String> {
        self.keys().cloned().collect()
    }
}

/// The environment variables of the process, all or some of them.
#[derive(Debug, Clone)]
pub struct Environment {
    /// The names, or `None` for all of them.
    only: Option<BTreeSet<String>>,
}

impl Environment {
    /// Selects all variables. Use this only for documents of the program's own author: anybody
    /// else's could send away the values that they read.
    pub fn all() -> Self {
        Environment { only: None }
    }

    /// Selects the variables with these names.
    pub fn only(names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Environment {
            only: Some(names.into_iter().map(Into::into).collect()),
        }
    }
}

impl Credentials for Environment {
    fn get(&self, name: &str) -> Result<Option<SecretString>, Box<dyn Error + Send + Sync>> {
        if self.only.as_ref().is_some_and(|only| !only.contains(name)) {
            return Err("documents may not read it".into());
        }
        match env::var(name) {
            Ok(value) => Ok(Some(value.into())),
            Err(VarError::NotPresent) => Ok(None),
            Err(VarError::NotUnicode(_)) => Err("it is not Unicode".into()),
        }
    }

    fn names(&self) -> Vec<String> {
        match &self.only {
            Some(only) => only.iter().cloned().collect(),
            None => env::vars_os()
                .filter_map(|(name, _)| name.into_string().ok())
                .collect(),
        }
    }
}
