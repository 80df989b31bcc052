//! Errors that prevent or stop serving.

use std::io;
use std::sync::Arc;
use std::{error, fmt};

use flow_spec::document::types;
use flow_spec::{FlowDocument, NodeAt};

/// The reason why flows cannot be served, or can no longer be.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum EndpointError {
    /// Two flows have this name.
    Twice(String),
    /// The server does not accept this name. It accepts letters, digits, `_`, `-` and `.`, after a
    /// letter, or after `_` and a letter or digit. It reserves `openapi` and names that begin with
    /// `restate`, in any case.
    Name(String),
    /// A node of this flow writes in a transaction (`#[node(transaction)]`). The server's journal
    /// is not in a database and so cannot be part of one.
    Transaction {
        /// The name of the flow.
        flow: String,
        /// The path of the node, or the name of the flow.
        node: String,
    },
    /// A node of this flow waits for a signal (`#[node(signal)]`). A promise of the server, by which
    /// a run waits for an answer, is resolved once and has no order.
    Signal {
        /// The name of the flow.
        flow: String,
        /// The path of the node, or the name of the flow.
        node: String,
    },
    /// A node of this flow has an undo node (`with undo = …`). The server ends a run that fails, and
    /// nothing keeps what it has done until all of it is taken back.
    Undo {
        /// The name of the flow.
        flow: String,
        /// The path of the node, or the name of the flow.
        node: String,
    },
    /// The argument of `Endpoint::identity_key` is not the key of a server.
    IdentityKey {
        /// The argument, if it begins as a key does. Otherwise it may be a secret and is not kept.
        key: Option<String>,
        /// The reason why it is not a key.
        reason: String,
    },
    /// The endpoint has no flow.
    Empty,
    /// The listener has failed for a minute. This is its last error.
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
            EndpointError::Signal { flow, node } => write!(
                f,
                "`{node}` in the flow `{flow}` waits for a signal, which Restate cannot keep for it in \
                 order: run the flow with `flow_durable::Runtime`, or wait for the \
                 answer to a question (`#[node(human = \"…\")]`) instead"
            ),
            EndpointError::Undo { flow, node } => write!(
                f,
                "`{node}` in the flow `{flow}` can be undone, and Restate does not keep a run until \
                 it is undone: run the flow with `flow_durable::Runtime`, or lead the failures of \
                 later nodes to a node that takes back what `{node}` did"
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

/// Checks that a flow with this name and structure can run on a server.
pub(crate) fn check(name: &str, structure: &str) -> Result<(), EndpointError> {
    if !is_name(name) {
        return Err(EndpointError::Name(name.to_owned()));
    }
    let flow = || name.to_owned();
    let transaction = |at: &NodeAt<'_>| at.node.settings.transaction;
    if let Some(node) = found(name, structure, r#""transaction":true"#, transaction) {
        return Err(EndpointError::Transaction { flow: flow(), node });
    }
    let signal = |at: &NodeAt<'_>| at.node.r#type == types::SIGNAL;
    if let Some(node) = found(name, structure, &format!("\"{}\"", types::SIGNAL), signal) {
        return Err(EndpointError::Signal { flow: flow(), node });
    }
    let undo = |at: &NodeAt<'_>| at.node.settings.undo.is_some();
    if let Some(node) = found(name, structure, r#""undo":""#, undo) {
        return Err(EndpointError::Undo { flow: flow(), node });
    }
    Ok(())
}

/// The path of a node like this in a flow, or the name of the flow if the node is unknown. `sign` is
/// in each structure that has one.
fn found(
    name: &str,
    structure: &str,
    sign: &str,
    is_it: impl Fn(&NodeAt<'_>) -> bool,
) -> Option<String> {
    if !structure.contains(sign) {
        return None;
    }
    match FlowDocument::parse_spec(structure) {
        Ok(document) => {
            let nodes = document.flatten_nodes();
            let node = nodes.iter().find(|at| is_it(at));
            node.map(|at| at.path.clone())
        }
        Err(_) => Some(name.to_owned()),
    }
}

/// Returns true if the server accepts a service of this name, by the rules of version 1.7.
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
