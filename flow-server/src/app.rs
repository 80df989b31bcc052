//! The state that all requests share.

use std::sync::Arc;

#[cfg(feature = "definitions")]
use flow_definitions::ActiveDefinitions;
use tokio_util::sync::CancellationToken;

use crate::access::Guard;
use crate::limits::Limits;
use crate::live::Hub;
use crate::metrics::Metrics;
#[cfg(feature = "definitions")]
use crate::problem::Problem;
use crate::streams::Streams;

pub(crate) struct App {
    guard: Guard,
    hub: Arc<Hub>,
    limits: Limits,
    metrics: Metrics,
    streams: Streams,
    closing: CancellationToken,
    #[cfg(feature = "definitions")]
    definitions: Option<ActiveDefinitions>,
}

impl App {
    pub(crate) fn new(guard: Guard, limits: Limits, closing: CancellationToken) -> Self {
        App {
            guard,
            hub: Arc::default(),
            streams: Streams::new(&limits),
            limits,
            metrics: Metrics::new(),
            closing,
            #[cfg(feature = "definitions")]
            definitions: None,
        }
    }

    /// Adds definitions.
    #[cfg(feature = "definitions")]
    pub(crate) fn with_definitions(self, definitions: Option<ActiveDefinitions>) -> Self {
        App {
            definitions,
            ..self
        }
    }

    /// Returns the definitions that the server keeps.
    #[cfg(feature = "definitions")]
    pub(crate) fn active_definitions(&self) -> Result<&ActiveDefinitions, Problem> {
        let none = || Problem::not_found("this server keeps no definitions");
        self.definitions.as_ref().ok_or_else(none)
    }

    /// Returns `true` if the server keeps definitions.
    pub(crate) fn keeps_definitions(&self) -> bool {
        #[cfg(feature = "definitions")]
        return self.definitions.is_some();
        #[cfg(not(feature = "definitions"))]
        false
    }

    pub(crate) fn guard(&self) -> &Guard {
        &self.guard
    }

    pub(crate) fn hub(&self) -> &Arc<Hub> {
        &self.hub
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.limits
    }

    pub(crate) fn metrics(&self) -> &Metrics {
        &self.metrics
    }

    /// Returns the token that shutdown cancels: streams end and requests stop waiting.
    pub(crate) fn closing(&self) -> &CancellationToken {
        &self.closing
    }

    /// Returns the open streams of events.
    pub(crate) fn streams(&self) -> &Streams {
        &self.streams
    }
}
