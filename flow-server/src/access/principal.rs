//! The principals of requests.

use std::sync::Arc;

use async_trait::async_trait;
use axum::http::request::Parts;
use flow_durable::ExecutionId;

use crate::problem::Problem;

/// The sender of a request, which decides what it may see and do.
///
/// | | executions | starts | flows and pictures | metrics |
/// |---|---|---|---|---|
/// | [operator](Principal::operator) | all | for anyone, or for no owner | yes | yes |
/// | [owner](Principal::owner) | their own; others do not exist for them | for themselves | yes | no |
/// | a [link](crate::Links) | one, to look at and to answer | no | no | no |
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Principal(pub(crate) Who);

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Who {
    Operator,
    Owner(Arc<str>),
    Link {
        execution: ExecutionId,
        /// The step whose question it is for. `None` for the whole execution.
        step: Option<String>,
    },
}

impl Principal {
    /// The operator, who runs the server.
    pub fn operator() -> Self {
        Principal(Who::Operator)
    }

    /// An owner, who has executions of their own: see
    /// [`Runtime::owned_by`](flow_durable::Runtime::owned_by).
    pub fn owner(name: impl Into<Arc<str>>) -> Self {
        Principal(Who::Owner(name.into()))
    }

    /// Returns the name under which the requests of this principal are counted.
    pub(crate) fn key(&self) -> String {
        match &self.0 {
            Who::Operator => "operator".to_owned(),
            Who::Owner(name) => format!("owner {name}"),
            Who::Link { execution, .. } => format!("link {execution}"),
        }
    }
}

/// Finds out who sent a request.
///
/// [`BearerTokens`](crate::BearerTokens) implements it, as can a program with its own sessions.
///
/// # Examples
///
/// ```
/// use axum::http::request::Parts;
/// use flow_server::{Authenticate, Principal};
///
/// /// What the program's own middleware has put into the request.
/// #[derive(Clone)]
/// struct Session {
///     user: String,
/// }
///
/// struct Sessions;
///
/// #[async_trait::async_trait]
/// impl Authenticate for Sessions {
///     async fn authenticate(&self, request: &Parts) -> Option<Principal> {
///         let session = request.extensions.get::<Session>()?;
///         Some(Principal::owner(session.user.as_str()))
///     }
/// }
/// ```
#[async_trait]
pub trait Authenticate: Send + Sync + 'static {
    /// Returns the sender of the request. `None` if it is unknown: the request is refused.
    async fn authenticate(&self, request: &Parts) -> Option<Principal>;

    /// Returns the answer to a request that is refused. By default, it says that a bearer token is
    /// missing or not known.
    fn refused(&self, request: &Parts) -> Problem {
        let _ = request;
        Problem::unauthenticated(
            "send `Authorization: Bearer …` with a token that this server knows",
        )
    }
}
