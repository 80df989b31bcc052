//! What the tests have in common: exporters in memory, and what they have got.

use flow_otel::{SpanIds, Telemetry};
use opentelemetry::trace::Status;
use opentelemetry_sdk::metrics::data::{AggregatedMetrics, MetricData};
use opentelemetry_sdk::metrics::{InMemoryMetricExporter, PeriodicReader, SdkMeterProvider};
use opentelemetry_sdk::trace::{InMemorySpanExporter, SdkTracerProvider, SpanData};

/// Telemetry that stays in memory.
pub(crate) struct Kept {
    pub(crate) telemetry: Telemetry,
    pub(crate) tracers: SdkTracerProvider,
    spans: InMemorySpanExporter,
    meters: SdkMeterProvider,
    metrics: InMemoryMetricExporter,
}

impl Kept {
    pub(crate) fn new() -> Self {
        let spans = InMemorySpanExporter::default();
        let tracers = SdkTracerProvider::builder()
            .with_id_generator(SpanIds::new())
            .with_simple_exporter(spans.clone())
            .build();
        let metrics = InMemoryMetricExporter::default();
        let reader = PeriodicReader::builder(metrics.clone()).build();
        let meters = SdkMeterProvider::builder().with_reader(reader).build();
        Kept {
            telemetry: Telemetry::new(&tracers, &meters),
            tracers,
            spans,
            meters,
            metrics,
        }
    }

    /// The spans that have been exported since they were last asked for.
    pub(crate) fn take_spans(&self) -> Vec<SpanData> {
        let spans = self.spans.get_finished_spans().unwrap();
        self.spans.reset();
        spans
    }

    /// The metrics so far, a line each: the name, the attributes and the value or the count.
    pub(crate) fn metrics(&self) -> Vec<String> {
        self.meters.force_flush().unwrap();
        let all = self.metrics.get_finished_metrics().unwrap();
        let mut lines = Vec::new();
        let last = all.last().expect("something was measured");
        for metric in last.scope_metrics().flat_map(|scope| scope.metrics()) {
            let name = metric.name();
            let mut line = |attributes: Vec<&opentelemetry::KeyValue>, value: String| {
                let mut attributes: Vec<String> = attributes
                    .iter()
                    .map(|one| format!("{}={}", one.key, one.value))
                    .collect();
                attributes.sort();
                lines.push(format!("{name} {} {value}", attributes.join(" ")));
            };
            match metric.data() {
                AggregatedMetrics::U64(MetricData::Sum(sum)) => {
                    for point in sum.data_points() {
                        line(point.attributes().collect(), point.value().to_string());
                    }
                }
                AggregatedMetrics::I64(MetricData::Sum(sum)) => {
                    for point in sum.data_points() {
                        line(point.attributes().collect(), point.value().to_string());
                    }
                }
                AggregatedMetrics::F64(MetricData::Histogram(histogram)) => {
                    for point in histogram.data_points() {
                        line(point.attributes().collect(), point.count().to_string());
                    }
                }
                other => panic!("{name}: {other:?}"),
            }
        }
        lines.sort();
        lines
    }
}

/// An attribute as text. Empty if there is none.
pub(crate) fn attribute(span: &SpanData, key: &str) -> String {
    let found = span.attributes.iter().find(|one| one.key.as_str() == key);
    found.map_or_else(String::new, |one| one.value.to_string())
}

/// The spans as a tree, each with its name, what became of it and its events.
pub(crate) fn tree(spans: &[SpanData]) -> String {
    let mut text = String::new();
    let known = |span: &&SpanData| {
        let parent = |other: &SpanData| other.span_context.span_id() == span.parent_span_id;
        spans.iter().any(parent)
    };
    for root in spans.iter().filter(|span| !known(span)) {
        add(root, spans, 0, &mut text);
    }
    text
}

fn add(span: &SpanData, spans: &[SpanData], depth: usize, text: &mut String) {
    *text += &"  ".repeat(depth);
    *text += &span.name;
    for key in [
        flow_otel::names::ATTEMPT,
        flow_otel::names::ATTEMPTS,
        flow_otel::names::ACTION,
        flow_otel::names::DROPPED,
        flow_otel::names::UNDO,
        flow_otel::names::STATUS,
        flow_otel::names::END,
    ] {
        let value = attribute(span, key);
        if !value.is_empty() {
            *text += &format!(" {}={value}", key.trim_start_matches("flow."));
        }
    }
    if let Status::Error { description } = &span.status {
        *text += &format!(" ! {description}");
    }
    for event in &span.events.events {
        *text += &format!(" ({})", event.name);
    }
    *text += "\n";
    let id = span.span_context.span_id();
    let mut inside: Vec<&SpanData> = spans
        .iter()
        .filter(|other| other.parent_span_id == id)
        .collect();
    inside.sort_by_key(|span| span.start_time);
    for span in inside {
        add(span, spans, depth + 1, text);
    }
}
