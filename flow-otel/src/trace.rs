//! The spans of one run, plain or durable.
//!
//! A span is made when it is over, with its start and end times. If this process stops before,
//! nothing has to be undone, and another process can export the span.

use std::collections::{BTreeMap, HashMap};
use std::time::{Duration, SystemTime};

use flow_runtime::engine::{NodePath, StepKey};
use opentelemetry::trace::{Event, Link, SpanBuilder, SpanKind, Status};
use opentelemetry::{Context, KeyValue, SpanId, TraceId};

use crate::ids::span_id;
use crate::names;
use crate::telemetry::{Ended, Parent, Telemetry, sampled};

/// The open spans of a run.
pub(crate) struct RunTrace {
    telemetry: Telemetry,
    trace: TraceId,
    root: SpanId,
    around: Context,
    /// The name of the flow, for people.
    pub(crate) flow: String,
    /// The path of the flow, which is also its step.
    pub(crate) path: String,
    started: SystemTime,
    attributes: Vec<KeyValue>,
    links: Vec<Link>,
    open: BTreeMap<String, Visit>,
    /// The steps of the open visits, by the paths of their nodes.
    steps: HashMap<String, String>,
    /// The steps that wait for something from outside.
    waits: BTreeMap<String, Wait>,
    /// False while the records that are followed have been exported before.
    exports: bool,
}

/// An open visit to a node.
struct Visit {
    path: String,
    node: String,
    started: SystemTime,
    attributes: Vec<KeyValue>,
    events: Vec<Event>,
    /// The number of failed attempts.
    failed_attempts: u32,
    /// The time at which the running attempt began.
    attempt_since: SystemTime,
    /// The first attempt, if it failed. Its span is exported once another attempt follows.
    first: Option<Attempt>,
    /// True if no attempt follows: one has succeeded, or a fallback is next.
    is_last_over: bool,
    fell_back: bool,
    error: Option<String>,
}

/// What a step waits for from outside.
#[derive(Clone, Copy)]
enum Wait {
    Answer,
    Signal,
}

/// An attempt that is over.
struct Attempt {
    index: u32,
    error: Option<String>,
    since: SystemTime,
    at: SystemTime,
}

/// The facts that are known of a run when it begins.
pub(crate) struct Begun {
    pub(crate) trace: TraceId,
    pub(crate) around: Context,
    pub(crate) flow: String,
    pub(crate) path: String,
    pub(crate) at: SystemTime,
    pub(crate) attributes: Vec<KeyValue>,
}

/// A visit that begins.
pub(crate) struct Reached<'a> {
    pub(crate) step: &'a str,
    pub(crate) path: &'a str,
    pub(crate) at: SystemTime,
    pub(crate) attributes: Vec<KeyValue>,
}

impl RunTrace {
    pub(crate) fn new(telemetry: Telemetry, begun: Begun, exports: bool) -> Self {
        let Begun {
            trace,
            around,
            flow,
            path,
            at,
            attributes,
        } = begun;
        if exports {
            telemetry.run_started(&flow);
        }
        RunTrace {
            telemetry,
            trace,
            root: span_id(trace, &path),
            around,
            flow,
            path,
            started: at,
            attributes,
            links: Vec::new(),
            open: BTreeMap::new(),
            steps: HashMap::new(),
            waits: BTreeMap::new(),
            exports,
        }
    }

    /// Exports spans from now on, and counts the open questions and the awaited signals.
    pub(crate) fn export_from_here(&mut self) {
        if !std::mem::replace(&mut self.exports, true) {
            for (step, wait) in &self.waits {
                self.count(step, *wait, 1);
            }
        }
    }

    /// Begins a copy here.
    pub(crate) fn copied(&mut self, link: Option<Link>, at: SystemTime) {
        self.links.extend(link);
        self.started = at;
    }

    /// Counts a copy, and exports spans from now on. Everything that it copied was exported with
    /// the original.
    pub(crate) fn copy_begins(&mut self) {
        self.telemetry.run_started(&self.flow);
        self.export_from_here();
    }

    pub(crate) fn node_started(&mut self, reached: Reached<'_>) {
        let visit = Visit {
            path: reached.path.to_owned(),
            // So there are few names.
            node: NodePath::new(reached.path).of_any_item(),
            started: reached.at,
            attributes: reached.attributes,
            events: Vec::new(),
            failed_attempts: 0,
            attempt_since: reached.at,
            first: None,
            is_last_over: false,
            fell_back: false,
            error: None,
        };
        self.steps
            .insert(reached.path.to_owned(), reached.step.to_owned());
        self.open.insert(reached.step.to_owned(), visit);
    }

    /// The step of the open visit to the node at a path. Without one, the path.
    pub(crate) fn step_at<'a>(&'a self, path: &'a str) -> &'a str {
        self.steps.get(path).map_or(path, String::as_str)
    }

    /// An attempt has failed. A next one, if any, begins now: it includes the pause before it.
    pub(crate) fn attempt_failed(&mut self, step: &str, attempt: u32, error: &str, at: SystemTime) {
        let Some(visit) = self.open.get_mut(step) else {
            return;
        };
        let failed = Attempt {
            index: attempt,
            error: Some(error.to_owned()),
            since: std::mem::replace(&mut visit.attempt_since, at),
            at,
        };
        visit.failed_attempts = attempt + 1;
        if self.exports {
            self.telemetry.attempt_failed(&self.flow, &visit.node);
        }
        if attempt == 0 {
            visit.first = Some(failed);
        } else {
            self.export_attempt(step, failed);
        }
    }

    /// An attempt has succeeded, or a fallback instead of one.
    pub(crate) fn attempt_done(&mut self, step: &str, at: SystemTime) {
        let Some(visit) = self.open.get_mut(step) else {
            return;
        };
        visit.error = None;
        let is_over = std::mem::replace(&mut visit.is_last_over, true);
        if is_over || visit.failed_attempts == 0 {
            return;
        }
        let done = Attempt {
            index: visit.failed_attempts,
            error: None,
            since: visit.attempt_since,
            at,
        };
        self.export_attempt(step, done);
    }

    /// A fallback is next instead of another attempt.
    pub(crate) fn gave_up(&mut self, step: &str) {
        if let Some(visit) = self.open.get_mut(step) {
            (visit.is_last_over, visit.fell_back) = (true, true);
        }
    }

    /// Exports an attempt after the first, and also the first if it was not exported yet.
    fn export_attempt(&mut self, step: &str, attempt: Attempt) {
        let Some(visit) = self.open.get_mut(step).filter(|_| self.exports) else {
            return;
        };
        self.telemetry.retried(&self.flow, &visit.node);
        let first = visit.first.take();
        for attempt in first.into_iter().chain([attempt]) {
            let error = attempt.error.as_deref();
            let index = KeyValue::new(names::ATTEMPT, i64::from(attempt.index));
            let message = error.map(|error| KeyValue::new(names::ERROR_MESSAGE, error.to_owned()));
            self.telemetry.export(Ended {
                trace: self.trace,
                id: span_id(self.trace, &format!("{step} attempt {}", attempt.index)),
                parent: Parent::Span(span_id(self.trace, step)),
                builder: builder(names::ATTEMPT_SPAN.to_owned(), attempt.since)
                    .with_attributes([index].into_iter().chain(message)),
                status: status(error),
                at: attempt.at,
            });
        }
    }

    /// A node, a flow, a fork, a race or a loop has failed. It ends with the action that follows,
    /// or with the run.
    pub(crate) fn failed(&mut self, step: &str, error: &str) {
        if let Some(visit) = self.open.get_mut(step) {
            visit.error = Some(error.to_owned());
        }
    }

    pub(crate) fn event(
        &mut self,
        step: &str,
        name: &'static str,
        attributes: Vec<KeyValue>,
        at: SystemTime,
    ) {
        if let Some(visit) = self.open.get_mut(step) {
            visit.events.push(Event::new(name, at, attributes, 0));
        }
    }

    pub(crate) fn asked(&mut self, step: &str, at: SystemTime) {
        self.event(step, names::ASKED, Vec::new(), at);
        self.open_wait(step, Wait::Answer);
    }

    pub(crate) fn answered(&mut self, step: &str, at: SystemTime) {
        self.event(step, names::ANSWERED, Vec::new(), at);
        self.close_wait(step);
    }

    /// A step waits for a signal of this name.
    pub(crate) fn awaited(&mut self, step: &str, signal: Option<&str>, at: SystemTime) {
        let signal = signal.map(|name| KeyValue::new(names::SIGNAL, name.to_owned()));
        self.event(step, names::AWAITED, signal.into_iter().collect(), at);
        self.open_wait(step, Wait::Signal);
    }

    /// A step took a signal, or waited in vain.
    pub(crate) fn received(&mut self, step: &str, at: SystemTime) {
        self.event(step, names::RECEIVED, Vec::new(), at);
        self.close_wait(step);
    }

    fn open_wait(&mut self, step: &str, wait: Wait) {
        if self.waits.insert(step.to_owned(), wait).is_none() && self.exports {
            self.count(step, wait, 1);
        }
    }

    fn close_wait(&mut self, step: &str) {
        if let Some(wait) = self.waits.remove(step).filter(|_| self.exports) {
            self.count(step, wait, -1);
        }
    }

    fn count(&self, step: &str, wait: Wait, more: i64) {
        let node = self.open.get(step).map_or(step, |visit| &visit.node);
        match wait {
            Wait::Answer => self.telemetry.questions(&self.flow, node, more),
            Wait::Signal => self.telemetry.signals(&self.flow, node, more),
        }
    }

    /// A node took an action. Ends its span, and the spans of the steps that were dropped inside
    /// it: those of the other branches of a race, or of a fork that failed.
    pub(crate) fn node_finished(&mut self, step: &str, action: &str, at: SystemTime) {
        self.drop_inside(step, at);
        self.end(step, Some(action), at);
    }

    /// Ends the spans of the steps that were dropped inside a step.
    pub(crate) fn drop_inside(&mut self, step: &str, at: SystemTime) {
        let within = StepKey::new(step).within(&self.open);
        let inside = within.map(|(other, _)| other.to_owned());
        let inside: Vec<String> = inside.filter(|other| other != step).collect();
        // The innermost first.
        for inside in inside.iter().rev() {
            self.end(inside, None, at);
        }
    }

    fn end(&mut self, step: &str, action: Option<&str>, at: SystemTime) {
        self.close_wait(step);
        let Some(visit) = self.open.remove(step) else {
            return;
        };
        if self.steps.get(&visit.path).is_some_and(|open| open == step) {
            self.steps.remove(&visit.path);
        }
        if !self.exports {
            return;
        }
        let took = elapsed(visit.started, at);
        let is_dropped = action.is_none() && visit.error.is_none();
        let known = action.unwrap_or(if is_dropped { "dropped" } else { "error" });
        self.telemetry
            .step_ended(&self.flow, &visit.node, known, took);
        let mut attributes = visit.attributes;
        attributes.push(KeyValue::new(names::NODE_PATH, visit.path));
        attributes.push(KeyValue::new(names::STEP, step.to_owned()));
        if let Some(action) = action {
            attributes.push(KeyValue::new(names::ACTION, action.to_owned()));
        }
        if is_dropped {
            attributes.push(KeyValue::new(names::DROPPED, true));
        }
        let undone = StepKey::new(step).undone().map(|visit| {
            attributes.push(KeyValue::new(names::UNDO, true));
            let visit = sampled(self.trace, span_id(self.trace, visit.as_str()));
            Link::new(visit, Vec::new(), 0)
        });
        let succeeded = visit.error.is_none() && !visit.fell_back;
        let attempts = visit.failed_attempts + u32::from(succeeded);
        attributes.push(KeyValue::new(names::ATTEMPTS, i64::from(attempts.max(1))));
        let error = visit.error.as_deref();
        let message = error.map(|error| KeyValue::new(names::ERROR_MESSAGE, error.to_owned()));
        attributes.extend(message);
        self.telemetry.export(Ended {
            trace: self.trace,
            id: span_id(self.trace, step),
            parent: Parent::Span(self.parent(step)),
            builder: builder(visit.node, visit.started)
                .with_attributes(attributes)
                .with_events(visit.events)
                .with_links(undone.into_iter().collect()),
            status: status(error),
            at,
        });
    }

    /// The span of the flow, fork, race or loop that contains a step.
    fn parent(&self, step: &str) -> SpanId {
        let mut around = StepKey::new(step).around().map(StepKey::as_str);
        let open = around.find(|around| self.open.contains_key(*around));
        open.map_or(self.root, |around| span_id(self.trace, around))
    }

    /// Ends the run: its span, and the spans of the steps that were dropped with it.
    pub(crate) fn ended(mut self, run: RunEnd<'_>) {
        let open: Vec<String> = self.open.keys().cloned().collect();
        for step in open.iter().rev() {
            self.end(step, None, run.at);
        }
        if !self.exports {
            return;
        }
        let took = elapsed(self.started, run.at);
        self.telemetry.run_ended(&self.flow, run.status, took);
        let mut attributes = self.attributes;
        attributes.push(KeyValue::new(names::FLOW_NAME, self.flow));
        attributes.push(KeyValue::new(names::STATUS, run.status));
        let end = run.end.map(|end| KeyValue::new(names::END, end.to_owned()));
        attributes.extend(end);
        let message = run
            .error
            .map(|error| KeyValue::new(names::ERROR_MESSAGE, error.to_owned()));
        attributes.extend(message);
        self.telemetry.export(Ended {
            trace: self.trace,
            id: self.root,
            parent: Parent::Context(self.around),
            builder: builder(self.path, self.started)
                .with_attributes(attributes)
                .with_links(self.links),
            status: status(run.error),
            at: run.at,
        });
    }
}

/// The end of a run.
pub(crate) struct RunEnd<'a> {
    pub(crate) status: &'static str,
    pub(crate) end: Option<&'a str>,
    pub(crate) error: Option<&'a str>,
    pub(crate) at: SystemTime,
}

fn builder(name: String, started: SystemTime) -> SpanBuilder {
    SpanBuilder::from_name(name)
        .with_kind(SpanKind::Internal)
        .with_start_time(started)
}

fn status(error: Option<&str>) -> Status {
    error.map_or(Status::Unset, |error| Status::error(error.to_owned()))
}

fn elapsed(since: SystemTime, until: SystemTime) -> Duration {
    until.duration_since(since).unwrap_or_default()
}
