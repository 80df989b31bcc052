//! A model that is asked again after failures that pass.

use std::time::Duration;

use async_trait::async_trait;

use crate::error::ModelError;
use crate::model::{Model, Reply, ReplyStream, Request};

/// A model that is asked again when it is [overloaded or limits the rate of
/// requests](ModelError::is_transient), after the time that the provider asks for.
///
/// Without such a time, the first pause is a second, and each further one is twice as long. A
/// stream is asked for again only until it begins: what a reader has seen is not taken back.
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
}

impl<M: Model> Retrying<M> {
    /// Asks up to 4 times, and waits up to a minute before each.
    pub fn new(model: M) -> Retrying<M> {
        Retrying {
            model,
            attempts: 4,
            wait: Duration::from_secs(1),
            max_wait: Duration::from_secs(60),
        }
    }

    /// How often the model is asked, the first time included. 0 counts as 1.
    pub fn attempts(mut self, attempts: u32) -> Retrying<M> {
        self.attempts = attempts;
        self
    }

    /// The first pause, if the provider asks for none.
    pub fn wait(mut self, wait: Duration) -> Retrying<M> {
        self.wait = wait;
        self
    }

    /// The longest pause. If the provider asks for a longer one, its error is returned at once:
    /// asking earlier is what it refuses.
    pub fn max_wait(mut self, max_wait: Duration) -> Retrying<M> {
        self.max_wait = max_wait;
        self
    }

    /// The pause before another attempt, or the error if there is none.
    fn pause(&self, attempt: u32, error: ModelError) -> Result<Duration, ModelError> {
        if attempt >= self.attempts || !error.is_transient() {
            return Err(error);
        }
        match error.retry_after() {
            Some(asked) if asked > self.max_wait => Err(error),
            Some(asked) => Ok(asked),
            None => {
                let factor = 2_u32.saturating_pow(attempt - 1);
                Ok(self.wait.saturating_mul(factor).min(self.max_wait))
            }
        }
    }
}

#[async_trait]
impl<M: Model> Model for Retrying<M> {
    async fn complete(&self, request: &Request) -> Result<Reply, ModelError> {
        let mut attempt = 1;
        loop {
            match self.model.complete(request).await {
                Ok(reply) => return Ok(reply),
                Err(error) => tokio::time::sleep(self.pause(attempt, error)?).await,
            }
            attempt += 1;
        }
    }

    async fn stream(&self, request: &Request) -> Result<ReplyStream, ModelError> {
        let mut attempt = 1;
        loop {
            match self.model.stream(request).await {
                Ok(stream) => return Ok(stream),
                Err(error) => tokio::time::sleep(self.pause(attempt, error)?).await,
            }
            attempt += 1;
        }
    }
}
