//! The ids of spans.
//!
//! The hard thing is that an execution can begin in one process and end in another, weeks later. So
//! its trace has the id of the execution, and the id of each span is made from its step. Every
//! process that exports a span knows the ids of the spans around it.

use std::cell::Cell;

use opentelemetry::{SpanId, TraceId};
use opentelemetry_sdk::trace::{IdGenerator, RandomIdGenerator};
use sha2::{Digest as _, Sha256};

thread_local! {
    /// The ids of the span under construction.
    static NEXT: Cell<Option<(TraceId, SpanId)>> = const { Cell::new(None) };
}

/// The id generator of a tracer provider that exports flows. For the spans of other libraries it
/// generates random ids, as the SDK's generator does.
///
/// # Examples
///
/// ```
/// use opentelemetry_sdk::trace::SdkTracerProvider;
///
/// let provider = SdkTracerProvider::builder().with_id_generator(flow_otel::SpanIds::new()).build();
/// # let _ = provider;
/// ```
#[derive(Debug, Default)]
pub struct SpanIds(RandomIdGenerator);

impl SpanIds {
    /// Creates the generator.
    pub fn new() -> Self {
        SpanIds::default()
    }
}

impl IdGenerator for SpanIds {
    fn new_trace_id(&self) -> TraceId {
        let next = NEXT.get().map(|(trace, _)| trace);
        next.unwrap_or_else(|| self.0.new_trace_id())
    }

    fn new_span_id(&self) -> SpanId {
        let next = NEXT.get().map(|(_, span)| span);
        next.unwrap_or_else(|| self.0.new_span_id())
    }
}

/// Makes a span with these ids.
pub(crate) fn with_ids<T>(trace: TraceId, span: SpanId, make: impl FnOnce() -> T) -> T {
    let before = NEXT.replace(Some((trace, span)));
    let made = make();
    NEXT.set(before);
    made
}

/// The id of the span of a step.
pub(crate) fn span_id(trace: TraceId, step: &str) -> SpanId {
    let digest = Sha256::new()
        .chain_update(trace.to_bytes())
        .chain_update(step)
        .finalize();
    let mut bytes = [0; 8];
    for (to, from) in bytes.iter_mut().zip(digest) {
        *to = from;
    }
    // An id of all zeros would be invalid.
    bytes[7] |= 1;
    SpanId::from_bytes(bytes)
}

/// A trace id for a run that has no execution.
pub(crate) fn random_trace() -> TraceId {
    TraceId::from(fastrand::u128(1..))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ids_of_other_spans_are_random() {
        let ids = SpanIds::new();
        let (trace, span) = (TraceId::from(7), span_id(TraceId::from(7), "a.b"));
        let made = with_ids(trace, span, || (ids.new_trace_id(), ids.new_span_id()));
        assert_eq!(made, (trace, span));
        assert_ne!(ids.new_trace_id(), trace);
        assert_ne!(ids.new_span_id(), span);
        assert_ne!(span_id(trace, "a.b"), span_id(trace, "a.c"));
        assert_ne!(span_id(trace, "a.b"), span_id(TraceId::from(8), "a.b"));
    }
}
