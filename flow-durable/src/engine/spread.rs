//! Loops whose items run in parts: see [`crate::parts`].

use std::collections::BTreeMap;
use std::future::pending;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use flow_runtime::engine::{Failed, Frame, Place, Saved, Scope, Spread};
use flow_runtime::{BoxFuture, FlowError, NodeError};
use flow_store::{ExecutionId, RecordKind, Row};
use futures_util::StreamExt as _;
use futures_util::future::{Either, select};
use futures_util::stream::FuturesUnordered;
use serde_json::Value;
use tokio::sync::Notify;

use crate::clock::millis;
use crate::engine::Durable;
use crate::entry::Snapshot;
use crate::error::RuntimeError;
use crate::journal::{Journal, NewRecord};
use crate::parts::{Division, Part};
use crate::payload::{self, VALUE_DEPTH};
use crate::replay::Outcome;

/// A part to create, without the data that it takes over from the execution with the loop.
pub(crate) struct NewPart {
    pub(crate) part: Part,
    /// The name of the loop's node.
    pub(crate) each: String,
    /// The state before the loop, with only the items of this part.
    pub(crate) begins: Snapshot,
}

/// The state or the result of a part.
#[derive(Debug)]
pub(crate) enum PartResult {
    /// It has not been created.
    Missing,
    /// It is not over.
    UnderWay,
    /// The list of its results, or `null` if the loop has none. If steps are counted, with the
    /// number of its steps.
    Results(Value),
    /// Its loop has failed.
    Failed {
        /// The error of the node, as JSON.
        text: String,
        error: NodeError,
    },
    /// It ended otherwise.
    Ended(FlowError),
}

/// The executions that are parts, for the one with the loop.
pub(crate) trait Parts: Send + Sync {
    /// The state or the result of a part. `path` is the path of the loop.
    fn result<'a>(
        &'a self,
        part: &'a Part,
        path: &'a str,
    ) -> BoxFuture<'a, Result<PartResult, RuntimeError>>;

    /// Stores a part in the queue, unless it is already stored.
    fn create(
        self: Arc<Self>,
        parent: &Row,
        new: NewPart,
    ) -> BoxFuture<'_, Result<(), RuntimeError>>;

    /// Ends a part whose results are no longer wanted, if it is not over.
    fn end<'a>(
        &'a self,
        part: ExecutionId,
        reason: &'a str,
    ) -> BoxFuture<'a, Result<(), RuntimeError>>;

    /// The time after which the execution with the loop checks its parts without a notification.
    /// The process that would notify it may have crashed.
    fn look_after(&self) -> Duration;
}

/// Creates the parts of an execution, and notifies it when they are over.
pub(crate) struct Spreads {
    pub(crate) parts: Weak<dyn Parts>,
    pub(crate) row: Row,
    pub(crate) told: Arc<Notify>,
}

impl std::fmt::Debug for Spreads {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Spreads").field(&self.row.id).finish()
    }
}

/// The part that an execution runs, and the result of its loop.
#[derive(Debug)]
pub(crate) struct OfPart {
    pub(crate) part: Part,
    /// True when its loop has begun.
    pub(super) begun: AtomicBool,
    pub(super) ran: Mutex<Option<Result<Saved, Failed>>>,
}

/// The place where the items of a loop run.
pub(super) enum Runs {
    /// In this execution, which continues after the loop.
    Here,
    /// In this execution, which is a part and ends with the loop.
    AsPart,
    /// In parts. If they were divided before: the division, with the number of its record.
    InParts(Option<(u64, Division)>),
}

impl Durable {
    /// Sets the part that this execution runs.
    pub(crate) fn of_part(self, part: Option<Part>) -> Self {
        let of_part = part.map(|part| OfPart {
            part,
            begun: AtomicBool::default(),
            ran: Mutex::default(),
        });
        Durable { of_part, ..self }
    }

    pub(crate) fn journal(&self) -> &Journal {
        &self.journal
    }

    /// The part that this execution is.
    pub(crate) fn part(&self) -> Option<&Part> {
        self.of_part.as_ref().map(|of_part| &of_part.part)
    }

    pub(crate) fn spreading(self, spreads: Spreads) -> Self {
        Durable {
            spreads: Some(spreads),
            ..self
        }
    }

    /// Takes the result of the loop of a part, if there is one.
    pub(crate) fn ran(&self) -> Option<Result<Saved, Failed>> {
        let ran = &self.of_part.as_ref()?.ran;
        ran.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// The part that this execution is, if its own loop is the frame's current node.
    pub(super) fn part_at(&self, frame: &Frame<'_>) -> Option<&OfPart> {
        self.of_part.as_ref().filter(|_| is_outermost(frame))
    }

    /// Stops a part that reaches a node after its loop: it runs only its items.
    pub(super) fn only_the_loop(&self, frame: &Frame<'_>) -> Result<(), Failed> {
        let Some(of_part) = self.part_at(frame) else {
            return Ok(());
        };
        if !of_part.begun.swap(true, Ordering::AcqRel) {
            return Ok(());
        }
        let path = frame.flow_path().to_string();
        let reason = "a part of a loop runs nothing behind the loop".to_owned();
        self.journal.stop_with(RuntimeError::Unreadable {
            execution: self.journal.execution(),
            path: path.clone(),
            reason: reason.clone(),
        });
        Err(Box::new(FlowError::Part { path, reason }))
    }

    /// Decides where the items of the current node run.
    pub(super) fn runs(&self, scope: &Scope<'_>, spread: &Spread<'_>) -> Runs {
        let frame = scope.frame();
        if !is_outermost(frame) {
            return Runs::Here;
        }
        if self.of_part.is_some() {
            return Runs::AsPart;
        }
        let place = frame.place();
        let (division, has_run_here) = self
            .journal
            .replaying(|replay| (replay.division(&place), replay.is_inside(&place)));
        if division.is_some() {
            return Runs::InParts(division);
        }
        let one_part = spread.items <= spread.each as usize;
        if one_part || has_run_here || self.spreads.is_none() {
            Runs::Here
        } else {
            Runs::InParts(None)
        }
    }

    /// Ends the execution with the result of its loop. This never returns.
    pub(super) async fn ran_as_part<S>(&self, ran: Result<Saved, Failed>) -> Result<S, Failed> {
        if let Some(of_part) = &self.of_part {
            *of_part.ran.lock().unwrap_or_else(PoisonError::into_inner) = Some(ran);
        }
        // The next poll of the run finds the result.
        pending().await
    }

    /// Runs the items of the current node in parts, and returns their results.
    pub(super) async fn in_parts(
        &self,
        scope: &Scope<'_>,
        spread: Spread<'_>,
        divided: Option<(u64, Division)>,
        state: Option<Saved>,
    ) -> Result<Saved, Failed> {
        let place = scope.frame().place();
        let Some(state) = state else {
            // The run was stopped, because the state cannot be stored.
            return pending().await;
        };
        let division = match divided {
            Some((seq, division)) => {
                self.journal.passed(seq).await;
                division
            }
            None => self.divide(&place, &spread).await,
        };
        if usize::try_from(division.items) != Ok(spread.items) {
            let reason = format!(
                "it had {} items when they were divided into parts, and has {} now",
                division.items, spread.items
            );
            return self.journal.halt(self.unreadable_at(&place, reason)).await;
        }
        let mut results: BTreeMap<u32, Value> = BTreeMap::new();
        let mut outstanding = Vec::new();
        let mut failed = None;
        {
            let replayed = |number: u32| {
                let part = part_place(&place, division, number);
                async move { (number, self.journal.recorded(&part).await) }
            };
            let mut replayed: FuturesUnordered<_> = (0..division.parts()).map(replayed).collect();
            while let Some((number, outcome)) = replayed.next().await {
                let part = part_place(&place, division, number);
                match outcome {
                    None => outstanding.push(number),
                    Some(Outcome::Value(recorded)) => {
                        let recorded = self.payload(&part, &recorded).of_type();
                        let recorded = self.or_halt(recorded).await;
                        results.insert(number, self.counted(scope.frame(), recorded)?);
                    }
                    Some(Outcome::Failed(recorded)) => {
                        let error = self.payload(&part, &recorded).error();
                        failed = Some((number, self.or_halt(error).await));
                        break;
                    }
                    Some(Outcome::Answer(_) | Outcome::Signal(_)) => {
                        let reason = "a part of a loop has an answer or a signal".to_owned();
                        return self.journal.halt(self.unreadable_at(&part, reason)).await;
                    }
                }
            }
        }
        if let Some((number, error)) = failed {
            let others = (0..division.parts())
                .filter(|other| *other != number && !results.contains_key(other));
            let others: Vec<u32> = others.collect();
            return self.part_failed(&place, division, &others, error).await;
        }
        if !outstanding.is_empty() {
            outstanding.sort_unstable();
            let found = self.await_parts(scope, &spread, division, state, outstanding);
            results.extend(found.await?);
        }
        let Some(key) = spread.results else {
            return Ok(Saved::default());
        };
        let all = results.into_values().flat_map(|results| match results {
            Value::Array(all) => all,
            _ => Vec::new(),
        });
        let all: Vec<Value> = all.collect();
        if all.len() != spread.items {
            let reason = format!(
                "its parts have {} results for {} items",
                all.len(),
                spread.items
            );
            return self.journal.halt(self.unreadable_at(&place, reason)).await;
        }
        Ok(Saved(
            [(key.to_owned(), Value::Array(all))].into_iter().collect(),
        ))
    }

    /// Divides the items, and records the division before a part exists.
    async fn divide(&self, place: &Place, spread: &Spread<'_>) -> Division {
        self.journal.live().await;
        let Ok(items) = u32::try_from(spread.items) else {
            let reason = format!("{} items are too many to be spread", spread.items);
            return self.halt_unstorable(place, reason).await;
        };
        let each = spread.each;
        let division = Division { items, each };
        let payload = serde_json::json!(division).to_string();
        let entry = NewRecord {
            kind: RecordKind::Spread,
            place,
            attempt: 0,
            payload,
        };
        self.journal.write(entry).await;
        division
    }

    /// Creates the missing parts, waits until all are over, and records their results.
    async fn await_parts(
        &self,
        scope: &Scope<'_>,
        spread: &Spread<'_>,
        division: Division,
        state: Saved,
        mut outstanding: Vec<u32>,
    ) -> Result<BTreeMap<u32, Value>, Failed> {
        let frame = scope.frame();
        let place = frame.place();
        let (None, Some(spreads)) = (&self.captured, &self.spreads) else {
            // A look into the past ends here.
            return pending().await;
        };
        let mut results = BTreeMap::new();
        loop {
            let Some(parts) = spreads.parts.upgrade() else {
                return pending().await;
            };
            {
                // A step like any other: not without a claim, and not while the process drains.
                let _begun = self.journal.begin().await;
                let _active = self.journal.active();
                let mut left = Vec::new();
                for number in outstanding {
                    let part = self.nth(&place, division, number);
                    let there = match self.or_halt(parts.result(&part, &place.path).await).await {
                        PartResult::Results(found) => {
                            self.record_part(&place, division, number, &found).await;
                            results.insert(number, self.counted(frame, found)?);
                            continue;
                        }
                        PartResult::Failed { text, error } => {
                            let place = part_place(&place, division, number);
                            self.journal.add_urgent(NewRecord {
                                kind: RecordKind::NodeFailed,
                                place: &place,
                                attempt: 0,
                                payload: text,
                            });
                            let at = frame.place();
                            let others = (0..division.parts()).filter(|other| *other != number);
                            let others: Vec<u32> = others.collect();
                            return self.part_failed(&at, division, &others, error).await;
                        }
                        PartResult::Ended(error) => return Err(Box::new(error)),
                        PartResult::UnderWay => true,
                        PartResult::Missing => false,
                    };
                    left.push(number);
                    if !there {
                        let begins = self.part_begins(frame, spread, division, number, &state);
                        let begins = match begins {
                            Ok(begins) => begins,
                            Err(reason) => return self.halt_unstorable(&place, reason).await,
                        };
                        let new = NewPart {
                            part,
                            each: begins.node.clone(),
                            begins,
                        };
                        self.or_halt(parts.clone().create(&spreads.row, new).await)
                            .await;
                    }
                }
                outstanding = left;
            }
            if outstanding.is_empty() {
                return Ok(results);
            }
            let after = millis(parts.look_after());
            drop(parts);
            let waited = outstanding.iter();
            let waited = waited.map(|number| self.nth(&place, division, *number).id());
            let _waits = self.journal.waits_for_parts(waited.collect());
            let again = self.journal.now_ms().saturating_add(after);
            let told = std::pin::pin!(spreads.told.notified());
            let again = std::pin::pin!(self.journal.sleep_until(again));
            match select(told, again).await {
                Either::Left(_) | Either::Right(_) => {}
            }
        }
    }

    /// Ends the other parts of a loop after one has failed, and returns the failure.
    async fn part_failed<T>(
        &self,
        place: &Place,
        division: Division,
        others: &[u32],
        error: NodeError,
    ) -> Result<T, Failed> {
        // The failure of the loop is recorded after the parts have ended.
        let ended = self.journal.replaying(|replay| replay.has_failed(place));
        if let (false, None, Some(spreads)) = (ended, &self.captured, &self.spreads)
            && let Some(parts) = spreads.parts.upgrade()
        {
            self.journal.all_stored().await;
            let _active = self.journal.active();
            for number in others {
                let id = self.nth(place, division, *number).id();
                let reason = "another part of the loop has failed";
                self.or_halt(parts.end(id, reason).await).await;
            }
        }
        Err(Box::new(FlowError::Node(error)))
    }

    /// Records the results of a part. The next step waits until they are stored.
    async fn record_part(&self, place: &Place, division: Division, number: u32, results: &Value) {
        let place = part_place(place, division, number);
        let payload = results.to_string();
        if let Err(reason) = payload::check(&payload, VALUE_DEPTH + 2) {
            return self.halt_unstorable(&place, reason).await;
        }
        self.journal.add_urgent(NewRecord {
            kind: RecordKind::Outcome,
            place: &place,
            attempt: 0,
            payload,
        });
    }

    fn nth(&self, place: &Place, division: Division, number: u32) -> Part {
        Part {
            of: self.journal.execution(),
            step: place.step.clone(),
            number,
            division,
        }
    }
}

fn is_outermost(frame: &Frame<'_>) -> bool {
    frame.around_flow().is_none() && !frame.is_branch() && frame.item_index().is_none()
}

/// The place of a part in the execution with the loop.
fn part_place(place: &Place, division: Division, number: u32) -> Place {
    Place {
        step: division.step(&place.step, number),
        ..place.clone()
    }
}
