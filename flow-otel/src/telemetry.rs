//! The providers to which spans and metrics go.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use opentelemetry::metrics::{Counter, Histogram, Meter, MeterProvider as _, UpDownCounter};
use opentelemetry::trace::{
    Span as _, SpanBuilder, SpanContext, TraceContextExt as _, TraceFlags, TraceState, Tracer as _,
    TracerProvider as _,
};
use opentelemetry::{Context, InstrumentationScope, KeyValue, SpanId, TraceId};
use opentelemetry_sdk::metrics::SdkMeterProvider;
use opentelemetry_sdk::trace::{SdkTracer, SdkTracerProvider};

use crate::ids::with_ids;
use crate::names;

/// The spans and metrics of flows, exported through two providers. Clones share the same state.
#[derive(Clone)]
pub struct Telemetry(Arc<Inner>);

struct Inner {
    tracer: SdkTracer,
    metrics: Metrics,
    /// True if a span got another id than it should have.
    other_ids: AtomicBool,
}

struct Metrics {
    runs_started: Counter<u64>,
    runs_ended: Counter<u64>,
    run_duration: Histogram<f64>,
    step_duration: Histogram<f64>,
    attempts_failed: Counter<u64>,
    retries: Counter<u64>,
    questions_open: UpDownCounter<i64>,
    signals_awaited: UpDownCounter<i64>,
}

impl fmt::Debug for Telemetry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Telemetry").finish_non_exhaustive()
    }
}

/// A span that is over.
pub(crate) struct Ended {
    pub(crate) trace: TraceId,
    pub(crate) id: SpanId,
    pub(crate) parent: Parent,
    pub(crate) builder: SpanBuilder,
    pub(crate) status: opentelemetry::trace::Status,
    pub(crate) at: std::time::SystemTime,
}

/// The parent of a span.
pub(crate) enum Parent {
    /// A span of this trace.
    Span(SpanId),
    /// The context of the program when the run began, often empty.
    Context(Context),
}

impl Telemetry {
    /// Creates telemetry that exports to these providers. The tracer provider has to use
    /// [`SpanIds`](crate::SpanIds) to generate its ids.
    pub fn new(tracers: &SdkTracerProvider, meters: &SdkMeterProvider) -> Self {
        let scope = InstrumentationScope::builder(names::SCOPE)
            .with_version(env!("CARGO_PKG_VERSION"))
            .build();
        Telemetry(Arc::new(Inner {
            tracer: tracers.tracer_with_scope(scope.clone()),
            metrics: Metrics::new(&meters.meter_with_scope(scope)),
            other_ids: AtomicBool::new(false),
        }))
    }

    /// Returns true if all spans got their ids, so that they are nested correctly.
    pub(crate) fn has_ids(&self) -> bool {
        !self.0.other_ids.load(Ordering::Relaxed)
    }

    /// Exports a span.
    pub(crate) fn export(&self, ended: Ended) {
        let Ended {
            trace,
            id,
            parent,
            builder,
            status,
            at,
        } = ended;
        let around = match parent {
            Parent::Context(context) => context,
            Parent::Span(parent) => Context::new().with_remote_span_context(sampled(trace, parent)),
        };
        let names_version = KeyValue::new(names::NAMES_VERSION, names::VERSION);
        let tracer = &self.0.tracer;
        let mut span = with_ids(trace, id, || tracer.build_with_context(builder, &around));
        let made = span.span_context().span_id();
        if made != id && made != SpanId::INVALID {
            self.0.other_ids.store(true, Ordering::Relaxed);
        }
        span.set_attribute(names_version);
        span.set_status(status);
        span.end_with_timestamp(at);
    }

    pub(crate) fn run_started(&self, flow: &str) {
        let attributes = [KeyValue::new(names::FLOW_NAME, flow.to_owned())];
        self.0.metrics.runs_started.add(1, &attributes);
    }

    pub(crate) fn run_ended(&self, flow: &str, status: &'static str, took: Duration) {
        let attributes = [
            KeyValue::new(names::FLOW_NAME, flow.to_owned()),
            KeyValue::new(names::STATUS, status),
        ];
        self.0.metrics.runs_ended.add(1, &attributes);
        let duration = &self.0.metrics.run_duration;
        duration.record(took.as_secs_f64(), &attributes);
    }

    pub(crate) fn step_ended(&self, flow: &str, node: &str, action: &str, took: Duration) {
        let mut attributes = of_node(flow, node).to_vec();
        attributes.push(KeyValue::new(names::ACTION, action.to_owned()));
        let duration = &self.0.metrics.step_duration;
        duration.record(took.as_secs_f64(), &attributes);
    }

    pub(crate) fn attempt_failed(&self, flow: &str, node: &str) {
        self.0.metrics.attempts_failed.add(1, &of_node(flow, node));
    }

    pub(crate) fn retried(&self, flow: &str, node: &str) {
        self.0.metrics.retries.add(1, &of_node(flow, node));
    }

    pub(crate) fn questions(&self, flow: &str, node: &str, more: i64) {
        let open = &self.0.metrics.questions_open;
        open.add(more, &of_node(flow, node));
    }

    pub(crate) fn signals(&self, flow: &str, node: &str, more: i64) {
        let awaited = &self.0.metrics.signals_awaited;
        awaited.add(more, &of_node(flow, node));
    }
}

/// The context of a span of this trace.
pub(crate) fn sampled(trace: TraceId, span: SpanId) -> SpanContext {
    SpanContext::new(
        trace,
        span,
        TraceFlags::SAMPLED,
        true,
        TraceState::default(),
    )
}

fn of_node(flow: &str, node: &str) -> [KeyValue; 2] {
    [
        KeyValue::new(names::FLOW_NAME, flow.to_owned()),
        KeyValue::new(names::NODE, node.to_owned()),
    ]
}

impl Metrics {
    fn new(meter: &Meter) -> Self {
        Metrics {
            runs_started: meter
                .u64_counter(names::RUNS_STARTED)
                .with_description("Runs that began")
                .build(),
            runs_ended: meter
                .u64_counter(names::RUNS_ENDED)
                .with_description("Runs that ended")
                .build(),
            run_duration: meter
                .f64_histogram(names::RUN_DURATION)
                .with_unit("s")
                .with_description("How long runs took")
                .build(),
            step_duration: meter
                .f64_histogram(names::STEP_DURATION)
                .with_unit("s")
                .with_description("How long the visits to nodes took")
                .build(),
            attempts_failed: meter
                .u64_counter(names::ATTEMPTS_FAILED)
                .with_description("Attempts that failed")
                .build(),
            retries: meter
                .u64_counter(names::RETRIES)
                .with_description("Attempts after the first")
                .build(),
            questions_open: meter
                .i64_up_down_counter(names::QUESTIONS_OPEN)
                .with_description("Questions that wait for an answer")
                .build(),
            signals_awaited: meter
                .i64_up_down_counter(names::SIGNALS_AWAITED)
                .with_description("Steps that wait for a signal")
                .build(),
        }
    }
}
