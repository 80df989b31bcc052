//! Finds the provided values that documents name, and reports missing ones.

use std::iter::successors;

use flow_spec::closest;
use flow_spec::document::MASK;
use secrecy::SecretString;

use super::{Credentials, Provided};

/// A missing secret: a message, and help.
pub(crate) struct Missing {
    pub(crate) message: String,
    pub(crate) help: Option<String>,
}

impl Provided {
    /// The value of `${NAME}`.
    pub(crate) fn variable(&self, name: &str) -> Result<SecretString, Missing> {
        let Some(variables) = self.variables.as_deref() else {
            return Err(missing(
                format!("`${{{name}}}` is a variable, and no variables are provided"),
                format!(
                    "provide it: `registry.provide_variables(Environment::only([\"{name}\"]))`"
                ),
            ));
        };
        let found = read(variables, name, &format!("the variable `{name}`"))?;
        found.ok_or_else(|| Missing {
            message: format!("the variable `{name}` is not set"),
            help: near(name, variables),
        })
    }

    /// The value of `@cred:name`.
    pub(crate) fn credential(&self, name: &str) -> Result<SecretString, Missing> {
        let Some(credentials) = self.credentials.as_deref() else {
            return Err(missing(
                format!("`@cred:{name}` is a credential, and no credentials are provided"),
                "provide them: `registry.provide_credentials(…)`".to_owned(),
            ));
        };
        let found = read(credentials, name, &format!("the credential `{name}`"))?;
        found.ok_or_else(|| Missing {
            message: format!("there is no credential `{name}`"),
            help: near(name, credentials),
        })
    }

    /// The value of [`MASK`]: the credential whose name is the path of the node and then that of
    /// the param.
    pub(crate) fn masked(&self, node: &str, param: &str) -> Result<SecretString, Missing> {
        let path = format!("{node}.{param}");
        let found = match self.credentials.as_deref() {
            Some(credentials) => read(credentials, &path, &format!("the credential `{path}`"))?,
            None => None,
        };
        found.ok_or_else(|| {
            missing(
                format!("`{param}` is a secret that is not in the document: it has `{MASK}`"),
                format!("provide it as the credential `{path}`, or name another one: `@cred:NAME`"),
            )
        })
    }
}

fn missing(message: String, help: String) -> Missing {
    Missing {
        message,
        help: Some(help),
    }
}

fn read(
    credentials: &dyn Credentials,
    name: &str,
    what: &str,
) -> Result<Option<SecretString>, Missing> {
    credentials.get(name).map_err(|error| {
        let causes = successors(error.source(), |cause| cause.source());
        let causes: String = causes.map(|cause| format!(": {cause}")).collect();
        Missing {
            message: format!("{what} cannot be read: {error}{causes}"),
            help: None,
        }
    })
}

fn near(name: &str, credentials: &dyn Credentials) -> Option<String> {
    let names = credentials.names();
    let near = closest(name, names.iter().map(String::as_str))?;
    Some(format!("did you mean `{near}`?"))
}
