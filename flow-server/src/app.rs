//! What all requests share.

use tokio_util::sync::CancellationToken;

use crate::access::Guard;
#[cfg(feature = "definitions")]
use crate::kept::Kept;
use crate::limits::Limits;
use crate::live::Hub;
use crate::metrics::Metrics;
#[cfg(feature = "definitions")]
use crate::problem::Problem;
use crate::streams::Streams;

pub(crate) struct App {
    guard: Guard,
    hub: Hub,
    limits: Limits,
    metrics: Metrics,
    streams: Streams,
    closing: CancellationToken,
    #[cfg(feature = "definitions")]
    kept: Option<Kept>,
}

impl App {
    pub(crate) fn new(guard: Guard, limits: Limits, closing: CancellationToken) -> Self {
        App {
            guard,
            hub: Hub::default(),
            streams: Streams::new(&limits),
            limits,
            metrics: Metrics::new(),
            closing,
            #[cfg(feature = "definitions")]
            kept: None,
        }
    }

    /// The same, with definitions.
    #[cfg(feature = "definitions")]
    pub(crate) fn keeping(self, kept: Option<Kept>) -> Self {
        App { kept, ..self }
    }

    /// The definitions that the server keeps.
    #[cfg(feature = "definitions")]
    pub(crate) fn kept(&self) -> Result<&Kept, Problem> {
        let none = || Problem::not_found("this server keeps no definitions");
        self.kept.as_ref().ok_or_else(none)
    }

    /// Whether the server keeps definitions.
    pub(crate) fn keeps_definitions(&self) -> bool {
        #[cfg(feature = "definitions")]
        return self.kept.is_some();
        #[cfg(not(feature = "definitions"))]
        false
    }

    pub(crate) fn guard(&self) -> &Guard {
        &self.guard
    }

    pub(crate) fn hub(&self) -> &Hub {
        &self.hub
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.limits
    }

    pub(crate) fn metrics(&self) -> &Metrics {
        &self.metrics
    }

    /// Cancelled when the server begins to shut down: streams end, and nobody waits any more.
    pub(crate) fn closing(&self) -> &CancellationToken {
        &self.closing
    }

    /// The streams of events that are open.
    pub(crate) fn streams(&self) -> &Streams {
        &self.streams
    }
}
