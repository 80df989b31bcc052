//! Who a request comes from.

use std::sync::Arc;

use async_trait::async_trait;
use axum::http::request::Parts;
use flow_durable::ExecutionId;

use crate::problem::Problem;

/// Who a request comes from, and so what it may see and do.
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
    /// Whoever runs the server.
    pub fn operator() -> Self {
        Principal(Who::Operator)
    }

    /// Somebody who has executions of their own: see
    /// [`Runtime::owned_by`](flow_durable::Runtime::owned_by).
    pub fn owner(name: impl Into<Arc<str>>) -> Self {
        Principal(Who::Owner(name.into()))
    }

    /// The name under which their requests are counted.
    pub(crate) fn key(&self) -> String {
        match &self.0 {
            Who::Operator => "operator".to_owned(),
            Who::Owner(name) => format!("owner {name}"),
            Who::Link { execution, .. } => format!("link {execution}"),
        }
    }
}

/// Finds out who a request comes from.
///
/// [`BearerTokens`](crate::BearerTokens) is one; a program with sessions of its own writes another.
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
    /// Who the request comes from. `None` if it is not known: the request is refused.
    async fn authenticate(&self, request: &Parts) -> Option<Principal>;

    /// What a request that is refused is told. The default says that a bearer token is missing or
    /// not known.
    fn refused(&self, request: &Parts) -> Problem {
        let _ = request;
        Problem::unauthenticated(
            "send `Authorization: Bearer …` with a token that this server knows",
        )
    }
}
