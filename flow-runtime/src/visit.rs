//! One visit of a run to a node, and the attempts made there.
//!
//! Work is created in place: a future that an `async fn` takes by value is stored twice.

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::time::Instant;

use crate::context::Context;
use crate::error::{BoxError, Failed, FlowError};
use crate::frame::Frame;
use crate::history::{EarlierAttempts, History, Pause};
use crate::node_error::{Failure, NodeError, Phase, TimedOut};
use crate::observer::EventKind;
use crate::panics::Guarded;
use crate::policy::{Policy, RetryIf};
use crate::scope::Scope;
use crate::step_id::UNNUMBERED;

/// One visit of a run to a node.
#[derive(Debug, Clone, Copy)]
pub struct Visit<'a> {
    pub(crate) scope: &'a Scope<'a>,
    pub(crate) policy: &'a Policy,
    /// The index of its first attempt.
    first: u32,
    /// Its number, if it is part of a visit that has one.
    number: u64,
}

impl<'a> Visit<'a> {
    /// A visit to the scope's current node.
    #[inline]
    pub fn new(scope: &'a Scope<'a>, policy: &'a Policy) -> Self {
        Visit {
            scope,
            policy,
            first: 0,
            number: UNNUMBERED,
        }
    }

    /// The frame at the visited node.
    #[inline]
    pub fn frame(&self) -> &'a Frame<'a> {
        self.scope.frame()
    }

    /// The maximum duration of one attempt, or the time to answer a question. `None` without a
    /// limit.
    pub fn timeout(&self) -> Option<Duration> {
        self.policy.timeout
    }

    /// Reports an event at this node to the run's observer.
    pub fn emit(&self, kind: EventKind<'_>) {
        self.scope.run().emit(self.frame().path(), kind);
    }

    /// The attempts of this visit. The count starts again with each visit.
    #[inline]
    pub fn attempts(self) -> Attempts<'a> {
        match self.scope.run().history() {
            None => self.all_attempts(),
            Some(history) => self.attempts_left_after(&**history),
        }
    }

    /// The attempts of this visit to a flow used as a node. A replay repeats those of earlier runs.
    pub fn flow_attempts(self) -> Attempts<'a> {
        self.all_attempts()
    }

    #[inline]
    fn all_attempts(self) -> Attempts<'a> {
        Attempts {
            visit: self,
            index: self.first,
            number: AtomicU64::new(self.number),
            is_final: false,
            is_given_up: false,
            of_poll: false,
            catches_panics: self.scope.run().catches_panics(),
        }
    }

    /// The attempts that earlier runs of the execution left. If all of them failed, and the error
    /// is unknown, the last one is made again.
    #[cold]
    fn attempts_left_after(self, history: &dyn History) -> Attempts<'a> {
        let EarlierAttempts { failed, given_up } = history.attempts(self.frame());
        let last = self.policy.retry.attempts.get() - 1;
        let index = match &given_up {
            Some(error) => error.attempts().saturating_sub(1),
            None => failed.min(last).max(self.first),
        };
        Attempts {
            index,
            is_given_up: given_up.is_some(),
            ..self.all_attempts()
        }
    }

    /// This visit with a number, so that all of its contexts have the same step id.
    fn numbered(self) -> Self {
        let scope = self.scope;
        match self.number {
            UNNUMBERED => Visit {
                number: scope.run().number_visit(scope.frame()),
                ..self
            },
            _ => self,
        }
    }

    /// A poll. Its time begins now or, in a durable run, when the node was first reached.
    pub fn poll(self, every: Duration, timeout: Option<Duration>) -> Poll<'a> {
        let deadline = timeout.map(|timeout| {
            let left = timeout.saturating_sub(self.scope.run().spent_at(self.frame()));
            (after(left), timeout)
        });
        Poll {
            visit: self.numbered(),
            every,
            deadline,
        }
    }

    /// Does the work of a node that cannot fail, within the timeout that its flow sets.
    pub async fn within_timeout<T>(
        self,
        work: Pin<&mut (impl Future<Output = Result<T, Failed>> + Send)>,
    ) -> Result<T, Failed> {
        match self.attempts().within_timeout(work).await {
            Ok(result) => result,
            Err(timed_out) => Err(self.attempts().exhausted(timed_out).into()),
        }
    }

    /// Like [`within_timeout`](Visit::within_timeout), for a node that its flow also retries.
    /// `work` makes the work of one attempt. Another attempt follows only a timeout, or a panic
    /// that counts as a failed attempt.
    pub async fn tried_within_timeout<T, W>(
        self,
        work: impl Fn(Visit<'a>) -> W + Send,
    ) -> Result<T, Failed>
    where
        W: Future<Output = Result<T, Failed>> + Send,
    {
        let mut attempts = self.attempts();
        let numbered = self.numbered();
        loop {
            let visit = Visit {
                first: attempts.index,
                ..numbered
            };
            let work = std::pin::pin!(work(visit));
            match attempts.within_timeout(work).await {
                Ok(result) => return result,
                Err(timed_out) => attempts.again(timed_out).await?,
            }
        }
    }
}

/// The attempts at a node during one visit.
#[derive(Debug)]
pub struct Attempts<'a> {
    pub(crate) visit: Visit<'a>,
    pub(crate) index: u32,
    /// The number of the visit, once a context was made.
    number: AtomicU64,
    /// True if the function that the node names has decided against another attempt.
    is_final: bool,
    /// True if an earlier run has made the last attempt, and its fallback had begun.
    is_given_up: bool,
    /// True for the attempts of a poll to ask once.
    of_poll: bool,
    /// True if a panic counts as a failed attempt.
    catches_panics: bool,
}

impl<'a> Attempts<'a> {
    /// The index of the current attempt, from 0.
    #[inline]
    pub fn index(&self) -> u32 {
        self.index
    }

    /// The visit.
    #[inline]
    pub fn visit(&self) -> Visit<'a> {
        self.visit
    }

    /// The context of the current attempt.
    pub fn context(&self) -> Context {
        let mut number = self.number.load(Ordering::Relaxed);
        if number == UNNUMBERED {
            number = self.visit.numbered().number;
            self.number.store(number, Ordering::Relaxed);
        }
        Context::new(self.visit.scope, self.index, number)
    }

    /// Makes one attempt, within the node's timeout.
    #[inline]
    pub async fn attempt<T, E>(
        &self,
        work: Pin<&mut impl Future<Output = Result<T, E>>>,
        into_failure: fn(E) -> Failure,
    ) -> Result<T, Failure> {
        if self.is_given_up {
            return Err(self.earlier_failure());
        }
        let work = Guarded::new(work, self.catches_panics);
        let result = match self.visit.policy.timeout {
            None => work.await,
            Some(after) => match tokio::time::timeout(after, work).await {
                Ok(result) => result,
                Err(_) => return Err(Failure::TimedOut(TimedOut { after })),
            },
        };
        result.map_err(Failure::Panicked)?.map_err(into_failure)
    }

    /// Like [`attempt`](Attempts::attempt), for a node that names the function which decides if
    /// another attempt follows an error. If a flow sets another `retry` for the node, the function
    /// is not called.
    pub async fn attempt_if<T, E>(
        &mut self,
        work: Pin<&mut (impl Future<Output = Result<T, E>> + Send)>,
        into_failure: fn(E) -> Failure,
        decides: fn(&E) -> bool,
    ) -> Result<T, Failure> {
        if self.is_given_up {
            return Err(self.earlier_failure());
        }
        let result = self.within_timeout(work).await?;
        result.map_err(|error| {
            let is_asked = matches!(self.visit.policy.retry.only_if, Some(RetryIf::OfNode));
            self.is_final = is_asked && !decides(&error);
            into_failure(error)
        })
    }

    /// Awaits work within the timeout. `Err` if it took longer, or if it panicked and the panic
    /// counts as a failed attempt.
    async fn within_timeout<T>(
        &self,
        work: Pin<&mut (impl Future<Output = T> + Send)>,
    ) -> Result<T, Failure> {
        let work = Guarded::new(work, self.catches_panics);
        let Some(after) = self.visit.policy.timeout else {
            return work.await.map_err(Failure::Panicked);
        };
        match tokio::time::timeout(after, work).await {
            Ok(result) => result.map_err(Failure::Panicked),
            Err(_) => Err(Failure::TimedOut(TimedOut { after })),
        }
    }

    /// Waits until the next attempt is due after a failed one, or gives up.
    ///
    /// # Errors
    ///
    /// The node's error, if no other attempt follows.
    pub async fn again(&mut self, failure: Failure) -> Result<(), NodeError> {
        if self.is_given_up {
            return Err(self.error(failure));
        }
        let error = self.exhausted(failure);
        let again = self.is_another_left()
            && match self.visit.policy.retry.only_if {
                Some(RetryIf::OfFlow(decides)) => decides(&error),
                Some(RetryIf::OfNode) | None => !self.is_final,
            };
        if !again {
            return Err(error);
        }
        let next = after(self.next());
        let (run, frame) = (self.visit.scope.run(), self.visit.frame());
        let pause = if self.of_poll {
            Pause::AttemptToAsk
        } else {
            Pause::Attempt(self.index)
        };
        run.sleep_until(frame, pause, next).await;
        Ok(())
    }

    /// Returns true if this is not the last attempt that the policy allows.
    pub(crate) fn is_another_left(&self) -> bool {
        self.index + 1 < self.visit.policy.retry.attempts.get()
    }

    /// The failure of the last attempt, which an earlier run made.
    #[cold]
    fn earlier_failure(&self) -> Failure {
        let visit = &self.visit;
        let history = visit.scope.run().history();
        let given_up = history.and_then(|history| history.attempts(visit.frame()).given_up);
        match given_up {
            Some(error) => error.into_failure(),
            None => unreachable!("the history said that the node was given up"),
        }
    }

    /// The result of a part that is not retried: `prep` or `post`. Its failure is not that of an
    /// attempt.
    #[inline]
    pub fn once<T, E: IntoFailure>(&self, phase: Phase, result: Result<T, E>) -> Result<T, Failed> {
        result.map_err(|error| self.error(error.into_failure()).in_phase(phase).into())
    }

    /// Waits until the fallback of this error may begin, and returns the error as the fallback gets
    /// it. The same conditions apply as for an attempt.
    #[inline]
    pub async fn falls_back(&self, error: NodeError) -> NodeError {
        let run = self.visit.scope.run();
        let error = match run.history() {
            Some(history) => {
                if !self.is_given_up {
                    history.gave_up(self.visit.frame(), self.index, &error);
                }
                run.kept(error)
            }
            None => error,
        };
        run.may_try().await;
        error
    }

    /// The result of the fallback. If it fails as well, its error keeps `error`.
    #[inline]
    pub fn fallback<T, E: IntoFailure>(
        &self,
        result: Result<T, E>,
        error: NodeError,
    ) -> Result<T, Failed> {
        result.map_err(|fallback| {
            let fallback = fallback.into_failure();
            self.report(&fallback);
            error.of_fallback(fallback).into()
        })
    }

    /// Moves to the next attempt, and returns the wait before it.
    pub(crate) fn next(&mut self) -> Duration {
        let wait = self.visit.policy.retry.jittered_wait_after(self.index);
        self.index += 1;
        wait
    }

    /// Reports a failed attempt, and makes it the node's error.
    pub fn exhausted(&self, failure: Failure) -> NodeError {
        self.report(&failure);
        self.error(failure)
    }

    fn error(&self, failure: Failure) -> NodeError {
        let path = self.visit.frame().path().to_string();
        NodeError::new(path, self.index + 1, failure)
    }

    fn report(&self, failure: &Failure) {
        let scope = self.visit.scope;
        let error = failure.error();
        scope.run().attempt_failed(scope.frame(), self.index, error);
    }
}

/// The instant after this duration, or one in the far future if it is too long.
fn after(duration: Duration) -> Instant {
    const FAR: Duration = Duration::from_secs(60 * 60 * 24 * 365 * 30);
    let now = Instant::now();
    now.checked_add(duration).unwrap_or(now + FAR)
}

/// Asks repeatedly, until a deadline.
#[derive(Debug)]
pub struct Poll<'a> {
    visit: Visit<'a>,
    every: Duration,
    deadline: Option<(Instant, Duration)>,
}

impl<'a> Poll<'a> {
    /// The attempts at asking once. The count restarts each time, also after a crash.
    pub fn attempts(&self) -> Attempts<'a> {
        Attempts {
            of_poll: true,
            ..self.visit.all_attempts()
        }
    }

    /// Waits until it is time to ask again, after a poll without an answer. The last time is at the
    /// deadline.
    ///
    /// # Errors
    ///
    /// The deadline has passed.
    pub async fn pause(&self) -> Result<(), Failed> {
        let next = after(self.every);
        let (run, frame) = (self.visit.scope.run(), self.visit.frame());
        let Some((deadline, after)) = self.deadline else {
            run.sleep_until(frame, Pause::Ask, next).await;
            return Ok(());
        };
        if Instant::now() >= deadline {
            let failure = Failure::Deadline(TimedOut { after });
            return Err(self.attempts().exhausted(failure).into());
        }
        run.sleep_until(frame, Pause::Ask, next.min(deadline)).await;
        Ok(())
    }
}

impl From<NodeError> for Failed {
    fn from(error: NodeError) -> Self {
        Box::new(FlowError::Node(error))
    }
}

/// Types that can be the error of a node. They can become a `Box<dyn Error + Send + Sync>`.
///
/// These are `String`, `&str`, `anyhow::Error`, `Box<dyn Error + Send + Sync>`, and each type that
/// implements [`std::error::Error`] and is `Send + Sync`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the error of a node",
    label = "has to be an error, and `Send + Sync`",
    note = "for a boxed error, write `Box<dyn Error + Send + Sync>`; for a type of your own, implement `std::error::Error`; \
            `String` and `anyhow::Error` will do as they are"
)]
pub trait IntoFailure {
    /// The error, of any type.
    #[doc(hidden)]
    fn into_failure(self) -> Failure;
}

#[diagnostic::do_not_recommend]
impl IntoFailure for Failure {
    #[inline]
    fn into_failure(self) -> Failure {
        self
    }
}

#[diagnostic::do_not_recommend]
impl<E: Into<BoxError>> IntoFailure for E {
    #[inline]
    fn into_failure(self) -> Failure {
        Failure::Returned(self.into())
    }
}
