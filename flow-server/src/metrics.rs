//! Numbers for Prometheus.

use std::time::Instant;

use axum::http::StatusCode;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::Registry;

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Answered {
    method: String,
    /// The pattern of the router, such as `/executions/{id}`, not the path of the request.
    route: String,
    status: u16,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Asked {
    method: String,
    route: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Started {
    flow: String,
}

/// The metrics of the server.
pub(crate) struct Metrics {
    registry: Registry,
    requests: Family<Answered, Counter>,
    seconds: Family<Asked, Histogram>,
    started: Family<Started, Counter>,
    answered: Counter,
    signalled: Counter,
    cancelled: Counter,
    refused: Gauge,
    streams: Gauge,
    events: Counter,
}

impl Metrics {
    pub(crate) fn new() -> Self {
        let mut metrics = Metrics {
            registry: Registry::default(),
            requests: Family::default(),
            seconds: Family::new_with_constructor(|| {
                Histogram::new(exponential_buckets(0.001, 4.0, 8))
            }),
            started: Family::default(),
            answered: Counter::default(),
            signalled: Counter::default(),
            cancelled: Counter::default(),
            refused: Gauge::default(),
            streams: Gauge::default(),
            events: Counter::default(),
        };
        let registry = &mut metrics.registry;
        let requests = metrics.requests.clone();
        registry.register("flow_http_requests", "Requests answered", requests);
        let help = "Time from a request to the head of its answer";
        registry.register("flow_http_request_seconds", help, metrics.seconds.clone());
        let help = "Executions started over HTTP";
        registry.register("flow_executions_started", help, metrics.started.clone());
        let help = "Questions answered over HTTP";
        registry.register("flow_questions_answered", help, metrics.answered.clone());
        let help = "Signals sent over HTTP";
        registry.register("flow_signals_sent", help, metrics.signalled.clone());
        let help = "Executions cancelled over HTTP";
        registry.register("flow_executions_cancelled", help, metrics.cancelled.clone());
        let help = "Executions that this process could not continue";
        registry.register("flow_executions_refused", help, metrics.refused.clone());
        let help = "Streams of events that are open";
        registry.register("flow_event_streams", help, metrics.streams.clone());
        let help = "Events sent in streams";
        registry.register("flow_events_sent", help, metrics.events.clone());
        metrics
    }

    pub(crate) fn request(&self, method: &str, route: &str, status: StatusCode, since: Instant) {
        let (method, route) = (method.to_owned(), route.to_owned());
        let asked = Asked {
            method: method.clone(),
            route: route.clone(),
        };
        let seconds = self.seconds.get_or_create(&asked);
        seconds.observe(since.elapsed().as_secs_f64());
        drop(seconds);
        let answered = Answered {
            method,
            route,
            status: status.as_u16(),
        };
        self.requests.get_or_create(&answered).inc();
    }

    pub(crate) fn started(&self, flow: &str) {
        let flow = flow.to_owned();
        self.started.get_or_create(&Started { flow }).inc();
    }

    pub(crate) fn answered(&self) {
        self.answered.inc();
    }

    pub(crate) fn signalled(&self) {
        self.signalled.inc();
    }

    pub(crate) fn cancelled(&self) {
        self.cancelled.inc();
    }

    pub(crate) fn refused(&self, count: usize) {
        self.refused.set(i64::try_from(count).unwrap_or(i64::MAX));
    }

    pub(crate) fn event(&self) {
        self.events.inc();
    }

    /// Counts a stream as open until the returned value is dropped.
    pub(crate) fn stream(&self) -> OpenStream {
        self.streams.inc();
        OpenStream(self.streams.clone())
    }

    /// Returns all metrics in the text format of OpenMetrics.
    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        let encoded = encode(&mut text, &self.registry);
        encoded.unwrap_or_else(|_| unreachable!("a string takes any text"));
        text
    }
}

pub(crate) struct OpenStream(Gauge);

impl Drop for OpenStream {
    fn drop(&mut self) {
        self.0.dec();
    }
}
