//! Why flows cannot be served.

use std::io;
use std::sync::Arc;
use std::{error, fmt};

use flow_spec::FlowDocument;

/// Why flows cannot be served, or not any more.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum EndpointError {
    /// Two flows have this name.
    Twice(String),
    /// A server does not take this name: it takes letters, digits, `_`, `-` and `.`, after a letter,
    /// or after `_` and a letter or digit. Names that begin with `restate`, and `openapi`, are its
    /// own, in capitals too.
    Name(String),
    /// A node of this flow writes in a transaction (`#[node(transaction)]`), and the server's journal
    /// is in no database of which that could be a part.
    Transaction {
        /// The name of the flow.
        flow: String,
        /// The path of the node, or the name of the flow.
        node: String,
    },
    /// What `Endpoint::identity_key` was given is not the key of a server.
    IdentityKey {
        /// What was given, if it begins as a key does. Otherwise it may be a secret, and is not kept.
        key: Option<String>,
        /// Why it is no key.
        reason: String,
    },
    /// There is no flow.
    Empty,
    /// The listener has failed for a minute, last for this reason.
    Listener(Arc<io::Error>),
}

impl fmt::Display for EndpointError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EndpointError::Twice(name) => write!(f, "two flows have the name `{name}`: rename one"),
            EndpointError::Name(name) => write!(
                f,
                "Restate does not take the name `{name}`: use letters, digits, `_`, `-` and `.`, \
                 after a letter or `_`, and neither `openapi` nor what begins with `restate`"
            ),
            EndpointError::Transaction { flow, node } => write!(
                f,
                "`{node}` in the flow `{flow}` writes in a transaction, which Restate cannot commit \
                 together with its outcome: run the flow with `flow_durable::Runtime`, or let the \
                 node write in a way that may happen twice"
            ),
            EndpointError::IdentityKey { key, reason } => {
                match key {
                    Some(key) => write!(f, "`{key}`")?,
                    None => f.write_str("what `identity_key` was given")?,
                }
                write!(
                    f,
                    " is not the key of a server: {reason}. The server writes its key to its log \
                     when it starts with `request-identity-private-key-pem-file`, as `publickeyv1_…`"
                )
            }
            EndpointError::Empty => f.write_str("there is no flow: add one by `.flow(…)`"),
            EndpointError::Listener(_) => f.write_str("no connections can be accepted"),
        }
    }
}

impl error::Error for EndpointError {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        match self {
            EndpointError::Listener(error) => Some(error),
            _ => None,
        }
    }
}

/// Looks whether a flow with this name and structure can run on a server.
pub(crate) fn check(name: &str, structure: &str) -> Result<(), EndpointError> {
    if !is_name(name) {
        return Err(EndpointError::Name(name.to_owned()));
    }
    if !structure.contains(r#""transaction":true"#) {
        return Ok(());
    }
    let node = match FlowDocument::parse_spec(structure) {
        Ok(document) => {
            let nodes = document.flatten_nodes();
            let node = nodes.iter().find(|at| at.node.settings.transaction);
            node.map(|at| at.path.clone())
        }
        // It is not known which one it is.
        Err(_) => Some(name.to_owned()),
    };
    match node {
        None => Ok(()),
        Some(node) => Err(EndpointError::Transaction {
            flow: name.to_owned(),
            node,
        }),
    }
}

/// Whether the server takes a service of this name, as version 1.7 decides it.
fn is_name(name: &str) -> bool {
    let is_one = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    let mut first = name.chars();
    let begins = match first.next() {
        Some('_') => first.next().is_some_and(|c| c.is_ascii_alphanumeric()),
        Some(c) => c.is_ascii_alphabetic(),
        None => false,
    };
    let lower = name.to_ascii_lowercase();
    begins && name.chars().all(is_one) && lower != "openapi" && !lower.starts_with("restate")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(feature = "identity")]
    #[tokio::test]
    async fn shows_no_private_key() {
        let private = "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIA\n";
        for (key, is_shown) in [(private, false), ("publickeyv1_2g", true)] {
            let endpoint = crate::Endpoint::new().identity_key(key);
            let shown = format!("{endpoint:?}");
            assert_eq!(shown.contains("2g"), is_shown, "{shown}");
            assert!(!shown.contains("MC4C"), "{shown}");
            let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
            let refused = endpoint.serve(listener).await.unwrap_err();
            let texts = format!("{refused} {refused:?}");
            assert_eq!(texts.contains("2g"), is_shown, "{texts}");
            assert!(!texts.contains("MC4C"), "{texts}");
            assert!(texts.contains("is not the key of a server"), "{texts}");
        }
    }

    #[test]
    fn takes_the_names_that_the_server_takes() {
        for name in ["Good", "_a", "_1", "a.b", "a-b", "a_", "a.", "Openapi2"] {
            assert!(is_name(name), "{name}");
        }
        for name in [
            "",
            "_",
            "__a",
            "_-a",
            "1a",
            "Ära",
            "a b",
            "RestateFlow",
            "OpenAPI",
        ] {
            assert!(!is_name(name), "{name}");
        }
    }
}
