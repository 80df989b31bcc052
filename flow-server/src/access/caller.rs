//! A request whose sender is known.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;

use axum::extract::{ConnectInfo, FromRequestParts};
use axum::http::request::Parts;
use flow_durable::{Execution, ExecutionId, Executions, OpenQuestion, Runtime, Token};

use super::guard::Guard;
use super::once;
use super::principal::{Principal, Who};
use crate::app::App;
use crate::problem::Problem;

/// The maximum length in bytes of a name that stores search by.
const LONGEST_NAME: usize = 512;

/// The sender of a request, and the executions that they may see. Handlers reach executions only
/// through a caller.
#[derive(Debug, Clone)]
pub(crate) struct Caller {
    principal: Principal,
    /// The executions of the owner, or all of them for an operator or a link.
    executions: Executions,
    runtime: Runtime,
}

impl Caller {
    async fn of(parts: &Parts, guard: &Guard) -> Result<Self, Problem> {
        let link = once::headers(parts).and_then(|()| once::link(parts));
        let link = match link {
            Ok(link) => link,
            Err(problem) => {
                guard.limiter.refused(peer(parts))?;
                return Err(problem);
            }
        };
        let linked = link.and_then(|link| guard.links.principal(&link));
        let principal = match linked {
            Some(principal) => Some(principal),
            None => guard.authentication.authenticate(parts).await,
        };
        let Some(principal) = principal else {
            guard.limiter.refused(peer(parts))?;
            return Err(guard.authentication.refused(parts));
        };
        guard.limiter.request(&principal.key())?;
        let runtime = guard.runtime.clone();
        let executions = match &principal.0 {
            Who::Owner(owner) => runtime.owned_by(owner.clone()),
            Who::Operator | Who::Link { .. } => runtime.all_owners(),
        };
        Ok(Caller {
            principal,
            executions,
            runtime,
        })
    }

    /// Returns the executions of the caller.
    ///
    /// # Errors
    ///
    /// The caller has a link, which is for one execution.
    pub(crate) fn executions(&self) -> Result<&Executions, Problem> {
        match self.principal.0 {
            Who::Operator | Who::Owner(_) => Ok(&self.executions),
            Who::Link { .. } => Err(link_refused()),
        }
    }

    /// Returns the executions that a new one joins: those of `owner`, if the caller may start
    /// executions for them.
    pub(crate) fn starting(&self, owner: Option<&str>) -> Result<Executions, Problem> {
        let own = match &self.principal.0 {
            Who::Owner(own) => Some(&**own),
            _ => None,
        };
        not_too_long("owner", owner.or(own))?;
        match (&self.principal.0, owner) {
            (Who::Operator, Some(owner)) => Ok(self.runtime.owned_by(owner)),
            (Who::Operator, None) => Ok(self.runtime.executions().clone()),
            (Who::Owner(own), Some(owner)) if **own != *owner => Err(Problem::forbidden(
                "an owner starts executions for themselves only",
            )),
            (Who::Owner(_), _) => Ok(self.executions.clone()),
            (Who::Link { .. }, _) => Err(link_refused()),
        }
    }

    /// Returns an execution that the caller may see.
    pub(crate) async fn execution(&self, id: ExecutionId) -> Result<Execution, Problem> {
        match &self.principal.0 {
            Who::Link { step: Some(_), .. } => Err(no_execution(id)),
            Who::Link { execution, .. } if *execution != id => {
                // A part of a loop is inside its execution.
                let part = self.executions.get(id).await;
                let part = part.ok().filter(|part| part.part_of() == Some(*execution));
                part.ok_or_else(|| no_execution(id))
            }
            _ => Ok(self.executions.get(id).await?),
        }
    }

    /// Returns the id that a person gave, whole or in part: see [`Executions::find_id`]. A link
    /// needs a whole one.
    pub(crate) async fn find_id(&self, text: &str) -> Result<ExecutionId, Problem> {
        match self.principal.0 {
            Who::Operator | Who::Owner(_) => Ok(self.executions.find_id(text).await?),
            Who::Link { .. } => Err(Problem::not_found(format!(
                "there is no execution `{text}`"
            ))),
        }
    }

    /// Returns the owner whose limit of streams applies. `None` for an operator. A link counts
    /// towards the owner of its execution, since owners make links.
    pub(crate) fn counted_for(&self, execution: Option<&Execution>) -> Option<String> {
        let owner = execution.and_then(Execution::owner);
        match (&self.principal.0, owner) {
            (Who::Operator, _) => None,
            (Who::Link { .. }, Some(owner)) => Some(Principal::owner(owner).key()),
            _ => Some(self.principal.key()),
        }
    }

    /// Returns all executions of the caller, after a check that this one is visible.
    pub(crate) async fn executions_with(&self, id: ExecutionId) -> Result<&Executions, Problem> {
        self.execution(id).await?;
        Ok(&self.executions)
    }

    /// Returns the open questions of an execution that the caller may see.
    pub(crate) async fn questions(&self, id: ExecutionId) -> Result<Vec<OpenQuestion>, Problem> {
        match &self.principal.0 {
            Who::Link {
                execution,
                step: Some(_),
            } if *execution != id => Err(no_execution(id)),
            Who::Link { step: Some(_), .. } => {
                self.answerable(self.executions.get(id).await?).await
            }
            _ => self.answerable(self.execution(id).await?).await,
        }
    }

    async fn answerable(&self, execution: Execution) -> Result<Vec<OpenQuestion>, Problem> {
        let questions = execution.questions().await?.into_iter();
        Ok(questions
            .filter(|question| self.may_answer(question))
            .collect())
    }

    /// Returns an open question that the caller may see.
    pub(crate) async fn question(&self, token: Token) -> Result<OpenQuestion, Problem> {
        let question = self.executions.question(token).await?;
        if !self.may_answer(&question) {
            return Err(Problem::not_found("there is no question with this token"));
        }
        Ok(question)
    }

    /// The execution that a link is for.
    pub(crate) fn linked(&self) -> Option<ExecutionId> {
        match self.principal.0 {
            Who::Link { execution, .. } => Some(execution),
            _ => None,
        }
    }

    /// Returns `true` if the caller may see a question, but not its execution.
    pub(crate) fn sees_only_questions(&self) -> bool {
        matches!(&self.principal.0, Who::Link { step: Some(_), .. })
    }

    /// Returns the executions to answer a question that [`question`](Self::question) returned.
    pub(crate) fn answering(&self) -> &Executions {
        &self.executions
    }

    fn may_answer(&self, question: &OpenQuestion) -> bool {
        match &self.principal.0 {
            Who::Link { execution, step } => match step {
                Some(step) => *execution == question.execution() && step == question.step(),
                None => {
                    [Some(question.execution()), question.part_of()].contains(&Some(*execution))
                }
            },
            _ => true,
        }
    }

    pub(crate) fn is_operator(&self) -> bool {
        self.principal.0 == Who::Operator
    }

    /// Refuses everyone except operators.
    pub(crate) fn must_be_operator(&self) -> Result<(), Problem> {
        if !self.is_operator() {
            return Err(Problem::forbidden("this is for whoever runs the server"));
        }
        Ok(())
    }
}

/// A caller who runs the server.
pub(crate) struct Operator;

impl FromRequestParts<Arc<App>> for Caller {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Problem> {
        // An id that is not whole asks for the caller as well, and a request counts once.
        if let Some(caller) = parts.extensions.get::<Caller>() {
            return Ok(caller.clone());
        }
        let caller = Caller::of(parts, app.guard()).await?;
        parts.extensions.insert(caller.clone());
        Ok(caller)
    }
}

impl FromRequestParts<Arc<App>> for Operator {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Problem> {
        let caller = Caller::of(parts, app.guard()).await?;
        caller.must_be_operator().map(|()| Operator)
    }
}

/// Returns the address that a request comes from, if it is known.
fn peer(parts: &Parts) -> IpAddr {
    let peer = parts.extensions.get::<ConnectInfo<SocketAddr>>();
    peer.map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), |peer| peer.0.ip())
}

/// Refuses a name that no store takes.
pub(crate) fn not_too_long(what: &str, name: Option<&str>) -> Result<(), Problem> {
    let bytes = name.map_or(0, str::len);
    if bytes > LONGEST_NAME {
        return Err(Problem::bad_request(format!(
            "the {what} has {bytes} bytes, and can have {LONGEST_NAME}"
        )));
    }
    Ok(())
}

fn no_execution(id: ExecutionId) -> Problem {
    Problem::not_found(format!("there is no execution {id}"))
}

fn link_refused() -> Problem {
    Problem::forbidden("this link is for one execution")
}
