//! Exports executions from their journals.

use std::collections::{HashMap, HashSet};

use flow_durable::{
    EventFilter, Execution, ExecutionEvent, ExecutionId, Executions, Payload, Record, RecordKind,
    RecordedEvent, RuntimeError,
};
use flow_runtime::engine::{NodePath, StepKey};
use opentelemetry::trace::Link;
use opentelemetry::{Context, KeyValue, TraceId};

use crate::ids::span_id;
use crate::names;
use crate::telemetry::{Telemetry, sampled};
use crate::trace::{Begun, Reached, RunEnd, RunTrace};

/// Exports the spans and metrics of executions, from their journals. It includes executions of
/// other processes, and flows that this process does not have.
///
/// The id of an execution is the id of its trace, and the ids of its spans are made from its steps.
/// So an execution that pauses for a week, or continues in another process after a crash, is one
/// trace without gaps. It does not matter which process exports which part. If an execution that
/// has failed is [retried](flow_durable::Executions::retry), the spans that failed are exported
/// again when they end, with the same ids. A copy has a trace of its own, with a link to the
/// original execution.
///
/// Run one follower for each store: two would count everything twice.
#[derive(Debug)]
pub struct Follower {
    executions: Executions,
    telemetry: Telemetry,
    runs: HashMap<ExecutionId, Run>,
    offset: Option<u64>,
}

/// An execution that is not over.
struct Run {
    trace: RunTrace,
    end: Option<String>,
    /// True when its earlier records have been read, which were exported before.
    is_followed: bool,
}

impl std::fmt::Debug for Run {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Run").finish_non_exhaustive()
    }
}

/// The reason why a [`Follower`] stopped.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FollowError {
    /// The store could not be read, or a record is damaged. The follower continues after it.
    #[error(transparent)]
    Runtime(#[from] RuntimeError),
    /// The tracer provider does not use [`SpanIds`](crate::SpanIds) to generate ids, so the spans
    /// are not nested.
    #[error(
        "the tracer provider has its own span ids: build it with \
         `.with_id_generator(flow_otel::SpanIds::new())`"
    )]
    SpanIds,
}

impl Follower {
    /// Creates a follower of these executions: those of a runtime
    /// ([`Runtime::executions`](flow_durable::Runtime::executions)), of an owner, or of all owners.
    pub fn new(executions: Executions, telemetry: &Telemetry) -> Self {
        Follower {
            executions,
            telemetry: telemetry.clone(),
            runs: HashMap::new(),
            offset: None,
        }
    }

    /// The offset of the last record that was followed. A program that stores it, and passes it to
    /// [`EventFilter::from_offset`] after a restart, exports nothing twice and misses nothing.
    pub fn offset(&self) -> Option<u64> {
        self.offset
    }

    /// Exports what happens from now on, or from the offset of the filter. Another call continues
    /// where the last one stopped. It returns only if the filter ends ([`EventFilter::until_now`]).
    ///
    /// A filter by kind or path omits spans. Deltas are not exported.
    ///
    /// # Errors
    ///
    /// [`FollowError::Runtime`], after which it can be called again, and [`FollowError::SpanIds`].
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, nothing is lost: the next call continues where this one was.
    pub async fn follow(&mut self, filter: EventFilter) -> Result<(), FollowError> {
        let filter = match self.offset {
            Some(offset) => filter.from_offset(offset),
            None => filter,
        };
        let mut events = self.executions.events(filter).await?;
        while let Some(event) = events.next().await {
            if let ExecutionEvent::Recorded(event) = event? {
                self.begin(&event).await?;
                // The next call continues behind a record that cannot be read.
                self.offset = Some(event.offset);
                self.add(&event)?;
            }
            if !self.telemetry.has_ids() {
                return Err(FollowError::SpanIds);
            }
        }
        Ok(())
    }

    async fn begin(&mut self, event: &RecordedEvent) -> Result<(), RuntimeError> {
        if !self.runs.contains_key(&event.execution) {
            let run = self.begun(event).await?;
            self.runs.insert(event.execution, run);
        }
        Ok(())
    }

    fn add(&mut self, event: &RecordedEvent) -> Result<(), RuntimeError> {
        let Some(run) = self.runs.get_mut(&event.execution) else {
            return Ok(());
        };
        if run.add(event.execution, &event.record, &event.node_type)?
            && let Some(run) = self.runs.remove(&event.execution)
        {
            run.ended(&event.record);
        }
        Ok(())
    }

    /// Begins an execution with the first record of it that is followed. Everything before has been
    /// exported already.
    async fn begun(&self, event: &RecordedEvent) -> Result<Run, RuntimeError> {
        let id = event.execution;
        let execution = match self.executions.get(id).await {
            Ok(execution) => Some(execution),
            Err(RuntimeError::NotFound(_)) => None,
            Err(error) => return Err(error),
        };
        let earlier = match &execution {
            Some(execution) if event.record.seq > 0 => execution.journal().await?,
            _ => Vec::new(),
        };
        let mut earlier: Vec<Record> = earlier
            .into_iter()
            .take_while(|record| record.seq < event.record.seq)
            .collect();
        // What failed before a retry still runs after it.
        let retries = earlier.iter().chain([&event.record]);
        let retries = retries.filter(|record| record.kind == RecordKind::RunRetried);
        let dropped =
            retries.flat_map(|retry| Payload::of(id, retry).dropped().unwrap_or_default());
        let dropped: HashSet<u64> = dropped.collect();
        earlier.retain(|record| !dropped.contains(&record.seq));
        let first = earlier.first().unwrap_or(&event.record);
        let is_copy = execution
            .as_ref()
            .and_then(Execution::copied_from)
            .is_some();
        let exports = earlier.is_empty() && !is_copy;
        let mut run = Run {
            trace: RunTrace::new(self.telemetry.clone(), of(id, execution, first), exports),
            end: None,
            is_followed: false,
        };
        for record in &earlier {
            // What is damaged was an error where it was followed.
            let _ = run.add(id, record, &record.path);
        }
        if !earlier.is_empty() {
            run.trace.export_from_here();
        }
        run.is_followed = true;
        Ok(run)
    }
}

/// The facts that are known of an execution when it begins.
fn of(id: ExecutionId, execution: Option<Execution>, first: &Record) -> Begun {
    let mut attributes = vec![KeyValue::new(names::EXECUTION_ID, id.to_string())];
    let owner = execution.as_ref().and_then(Execution::owner);
    let owner = owner.map(|owner| KeyValue::new(names::EXECUTION_OWNER, owner.to_owned()));
    attributes.extend(owner);
    let path = match first.kind {
        RecordKind::RunStarted | RecordKind::Snapshot => &*first.path,
        // The records before it are not there any more.
        _ => NodePath::new(&first.path).first().0,
    };
    Begun {
        trace: trace_of(id),
        around: Context::new(),
        flow: match &execution {
            Some(execution) => execution.flow().to_owned(),
            None => path.to_owned(),
        },
        path: path.to_owned(),
        at: first.at(),
        attributes,
    }
}

fn trace_of(id: ExecutionId) -> TraceId {
    TraceId::from_bytes(*id.as_uuid().as_bytes())
}

impl Run {
    /// Follows a record. Returns true if the execution is over with it.
    ///
    /// # Errors
    ///
    /// [`RuntimeError::DamagedRecord`].
    fn add(
        &mut self,
        id: ExecutionId,
        record: &Record,
        node_type: &str,
    ) -> Result<bool, RuntimeError> {
        let (step, at) = (record.step.as_str(), record.at());
        let payload = Payload::of(id, record);
        let (trace, is_followed) = (&mut self.trace, self.is_followed);
        match record.kind {
            RecordKind::NodeStarted => trace.node_started(Reached {
                step,
                path: &record.path,
                at,
                attributes: attributes(record, node_type),
            }),
            RecordKind::AttemptFailed => {
                trace.attempt_failed(step, record.attempt, &record.payload, at);
            }
            RecordKind::GaveUp => trace.gave_up(step),
            RecordKind::Outcome => trace.attempt_done(step, at),
            RecordKind::NodeFailed => {
                let error = payload.error();
                let text = match &error {
                    Ok(error) => format!("{error:#}"),
                    Err(_) => record.payload.clone(),
                };
                trace.failed(step, &text);
                error?;
            }
            RecordKind::FlowFailed | RecordKind::TimedOut => {
                trace.drop_inside(step, at);
                let error = match record.kind {
                    RecordKind::TimedOut => "timed out",
                    _ => &record.payload,
                };
                trace.failed(StepKey::new(step).without_retry().as_str(), error);
            }
            RecordKind::Paused => trace.asked(step, at),
            RecordKind::Resumed => trace.answered(step, at),
            RecordKind::Awaiting => {
                let awaited = payload.shown();
                trace.awaited(step, awaited["signal"].as_str(), at);
            }
            RecordKind::Received => trace.received(step, at),
            RecordKind::NodeFinished => {
                if record.payload != "error" {
                    trace.attempt_done(step, at);
                }
                trace.node_finished(step, &record.payload, at);
            }
            RecordKind::FlowEnded if record.path == trace.path => {
                self.end = Some(record.payload.clone());
            }
            RecordKind::RunCopied => {
                let original = payload.copied_from();
                let link = original.as_ref().ok().map(|it| link(*it, &record.path));
                trace.copied(link, at);
                if is_followed {
                    trace.copy_begins();
                }
                original?;
            }
            RecordKind::RunCompleted | RecordKind::RunFailed | RecordKind::RunCancelled => {
                return Ok(true);
            }
            _ => {}
        }
        Ok(false)
    }

    fn ended(self, record: &Record) {
        let (status, error) = match record.kind {
            RecordKind::RunCompleted => ("completed", None),
            RecordKind::RunFailed => ("failed", Some(record.payload.as_str())),
            _ => ("cancelled", Some(record.payload.as_str())),
        };
        self.trace.ended(RunEnd {
            status,
            end: self.end.as_deref(),
            error,
            at: record.at(),
        });
    }
}

fn attributes(record: &Record, node_type: &str) -> Vec<KeyValue> {
    let mut attributes = vec![
        KeyValue::new(names::NODE_TYPE, node_type.to_owned()),
        KeyValue::new(names::VISIT, i64::from(record.visit)),
    ];
    let item = record
        .item
        .map(|item| KeyValue::new(names::ITEM, i64::from(item)));
    attributes.extend(item);
    attributes
}

/// A link to the execution that was copied. Its flow has this path.
fn link(original: ExecutionId, path: &str) -> Link {
    let trace = trace_of(original);
    let root = sampled(trace, span_id(trace, path));
    let id = KeyValue::new(names::EXECUTION_ID, original.to_string());
    Link::new(root, vec![id], 0)
}
