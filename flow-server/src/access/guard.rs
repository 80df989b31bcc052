//! Access control in front of the runtime.

use std::sync::Arc;
use std::time::Duration;

use flow_durable::{Durable, ListOptions, Runtime};
use flow_runtime::engine::AnyFlow;

use super::limiter::Limiter;
use super::links::Links;
use super::loopback::Loopback;
use super::principal::Authenticate;
use crate::limits::Limits;
use crate::problem::Problem;

/// The runtime, behind authentication. Only this module and its neighbours can access it.
pub(crate) struct Guard {
    pub(super) runtime: Runtime,
    pub(super) authentication: Arc<dyn Authenticate>,
    /// `true` if the program set an authentication. Otherwise, requests of this machine are let in.
    asks_who: bool,
    pub(super) links: Links,
    pub(super) limiter: Limiter,
}

impl Guard {
    pub(crate) fn new(
        runtime: Runtime,
        authentication: Option<Arc<dyn Authenticate>>,
        links: Links,
        limits: &Limits,
    ) -> Self {
        Guard {
            runtime,
            asks_who: authentication.is_some(),
            authentication: authentication.unwrap_or_else(|| Arc::new(Loopback)),
            links,
            limiter: Limiter::new(limits),
        }
    }

    /// Returns `true` if a request must be authenticated.
    pub(crate) fn asks_who(&self) -> bool {
        self.asks_who
    }

    /// The flows that can be started.
    pub(crate) fn flows(&self) -> Vec<Arc<dyn AnyFlow<Durable>>> {
        self.runtime.flows()
    }

    /// Checks that the store can be read.
    pub(crate) async fn check_store(&self) -> Result<(), Problem> {
        self.runtime
            .executions()
            .list(ListOptions::new().limit(1))
            .await?;
        Ok(())
    }

    /// Returns the number of executions that this process could not continue.
    pub(crate) async fn refused(&self) -> Result<usize, Problem> {
        Ok(self.runtime.refused().await?.len())
    }

    /// Stops the executions of this process when their running steps have ended, or after
    /// `at_most`, and releases its claims.
    pub(crate) async fn drain(&self, at_most: Duration) {
        self.runtime.drain(at_most).await;
    }

    pub(crate) fn links(&self) -> &Links {
        &self.links
    }
}
