//! A model that retries after transient failures.

use std::error::Error;
use std::time::Duration;

use async_trait::async_trait;

use crate::about::AboutModel;
use crate::embedding::{Embedded, Embedding};
use crate::error::ModelError;
use crate::log::warning;
use crate::model::{Model, Reply, ReplyStream, Request};

/// A model that is asked again when it is [overloaded or limits the rate of
/// requests](ModelError::is_transient), after the time that the provider requests.
///
/// Without such a time, the first pause is a second, and each further one is twice as long. A
/// random part spreads the items of a loop that were refused together. A stream is retried only
/// until it begins: parts that a reader has seen cannot be withdrawn.
///
/// An [`Embedding`] is retried in the same way.
///
/// # Retries around it
/// A transient error that is no longer retried becomes [`ModelError::GivenUp`]. The nodes of an
/// [agent](crate::agent) retry a turn by themselves, but not after this error. So a `Retrying`
/// controls the retries of its agent until an answer begins. Retries around this one multiply, such
/// as a `retry(…)` of a node in a flow or another `Retrying`: three attempts of a node are up to
/// twelve requests.
///
/// # Observability
/// With the feature `tracing`, each pause is a warning, with the number of the attempt, its error,
/// and the time until the next one. With the same feature of `flow-runtime`, it is in the span of
/// the node. Observers of the run see one attempt of the node, and the pauses count towards the
/// node's `timeout`. A node's own `retry(…)` reports each attempt to them, but does not know the
/// time that the provider requests.
///
/// # Examples
/// ```
/// use std::time::Duration;
///
/// use flow_agents::{Retrying, ScriptedModel};
///
/// let model = Retrying::new(ScriptedModel::new().text("yes"))
///     .attempts(3)
///     .max_wait(Duration::from_secs(20));
/// ```
#[derive(Debug, Clone)]
pub struct Retrying<M> {
    model: M,
    attempts: u32,
    wait: Duration,
    max_wait: Duration,
    jitter: f64,
}

impl<M> Retrying<M> {
    /// Wraps a model, with up to 4 attempts and pauses of up to a minute. Half of each is random.
    pub fn new(model: M) -> Retrying<M> {
        Retrying {
            model,
            attempts: 4,
            wait: Duration::from_secs(1),
            max_wait: Duration::from_secs(60),
            jitter: 0.5,
        }
    }

    /// Sets the maximum number of attempts, including the first. 0 counts as 1.
    pub fn attempts(mut self, attempts: u32) -> Retrying<M> {
        self.attempts = attempts;
        self
    }

    /// Sets the first pause if the provider requests none, before its random part is subtracted.
    pub fn wait(mut self, wait: Duration) -> Retrying<M> {
        self.wait = wait;
        self
    }

    /// Sets the longest pause. If the provider requests a longer one, [`ModelError::GivenUp`] is
    /// returned immediately: it would refuse an earlier request.
    pub fn max_wait(mut self, max_wait: Duration) -> Retrying<M> {
        self.max_wait = max_wait;
        self
    }

    /// Sets the random part of a pause, from 0 to 1. With 0.5, a pause of 10 s becomes one between
    /// 5 s and 10 s. A pause that the provider requests becomes one between 10 s and 15 s, at most
    /// [`max_wait`](Retrying::max_wait), and never less than requested. Other numbers count as the
    /// nearest valid one, and NaN as 0.
    pub fn jitter(mut self, jitter: f64) -> Retrying<M> {
        self.jitter = if jitter.is_nan() {
            0.0
        } else {
            jitter.clamp(0.0, 1.0)
        };
        self
    }

    /// Waits before another attempt.
    ///
    /// # Errors
    /// The error of this attempt, if it is the last one.
    async fn pause(&self, attempt: u32, error: ModelError) -> Result<(), ModelError> {
        if !error.is_transient() {
            return Err(error);
        }
        let Some(wait) = self.wait_after(attempt, &error) else {
            return Err(ModelError::GivenUp {
                attempts: attempt,
                source: Box::new(error),
            });
        };
        warning!(
            "the model is asked again after a pause",
            attempt = attempt,
            error = &error as &(dyn Error + 'static),
            wait_secs = wait.as_secs_f64(),
        );
        tokio::time::sleep(wait).await;
        Ok(())
    }

    /// The pause after this attempt, counted from 1. `None` if it is the last one.
    fn wait_after(&self, attempt: u32, error: &ModelError) -> Option<Duration> {
        if attempt >= self.attempts {
            return None;
        }
        let factor = 2_u32.saturating_pow(attempt - 1);
        let own = self.wait.saturating_mul(factor).min(self.max_wait);
        let random = self.jitter * fastrand::f64();
        let Some(asked) = error.retry_after() else {
            return Some(own.saturating_sub(share(own, random)));
        };
        let later = share(asked.max(own), random);
        let allowed = asked <= self.max_wait;
        allowed.then(|| asked.saturating_add(later).min(self.max_wait))
    }
}

/// A part of a time, from 0 to 1. Falls back to the whole time if a float cannot represent it.
fn share(time: Duration, part: f64) -> Duration {
    Duration::try_from_secs_f64(time.as_secs_f64() * part).unwrap_or(time)
}

#[async_trait]
impl<M: Model> Model for Retrying<M> {
    fn about(&self) -> AboutModel {
        self.model.about()
    }

    async fn complete(&self, request: &Request) -> Result<Reply, ModelError> {
        let mut attempt = 1;
        loop {
            match self.model.complete(request).await {
                Ok(reply) => return Ok(reply),
                Err(error) => self.pause(attempt, error).await?,
            }
            attempt += 1;
        }
    }

    async fn stream(&self, request: &Request) -> Result<ReplyStream, ModelError> {
        let mut attempt = 1;
        loop {
            match self.model.stream(request).await {
                Ok(stream) => return Ok(stream),
                Err(error) => self.pause(attempt, error).await?,
            }
            attempt += 1;
        }
    }
}

#[async_trait]
impl<M: Embedding> Embedding for Retrying<M> {
    fn about(&self) -> AboutModel {
        self.model.about()
    }

    async fn embed(&self, texts: &[String]) -> Result<Embedded, ModelError> {
        let mut attempt = 1;
        loop {
            match self.model.embed(texts).await {
                Ok(embedded) => return Ok(embedded),
                Err(error) => self.pause(attempt, error).await?,
            }
            attempt += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ScriptedModel;

    fn limited(retry_after: Option<Duration>) -> ModelError {
        ModelError::RateLimited {
            retry_after,
            message: String::new(),
        }
    }

    #[test]
    fn the_longest_times_and_parts_that_are_none_do_not_panic() {
        let longest = Duration::MAX;
        for (jitter, least) in [
            (0.0, longest),
            (-1.0, longest),
            (f64::NAN, longest),
            (1.0, Duration::ZERO),
            (7.0, Duration::ZERO),
            (f64::INFINITY, Duration::ZERO),
        ] {
            let model = Retrying::new(ScriptedModel::new()).jitter(jitter);
            let model = model.attempts(u32::MAX).wait(longest).max_wait(longest);
            let own = model.wait_after(u32::MAX - 1, &limited(None));
            assert!(own.is_some_and(|wait| wait >= least), "{jitter}: {own:?}");
            let asked = model.wait_after(1, &limited(Some(longest)));
            assert_eq!(asked, Some(longest), "{jitter}");
        }
        assert_eq!(share(longest, 1.0), longest);
    }
}
