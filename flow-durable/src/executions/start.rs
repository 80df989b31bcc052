//! Starts executions.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use flow_store::{
    Created, ExecutionId, JOURNAL_FORMAT, Record, RecordKind, Row, Status, Store, StoreError, to_ms,
};
use serde_json::Value;

use super::Executions;
use crate::driver::Suspicion;
use crate::error::RuntimeError;
use crate::execution::Execution;
use crate::options::StartOptions;
use crate::payload::{self, VALUE_DEPTH};
use crate::registered::{Registered, hash_of};
use crate::shared::{FIRST_FENCE, Loaded, Slot, UnusedClaim};
use flow_runtime::Flow;
use flow_runtime::engine::{RefusedInput, Saved, Unstorable};

impl Executions {
    /// Starts an execution of a registered flow as a task of its own, and returns as soon as it is
    /// stored.
    ///
    /// # Errors
    ///
    /// No execution is started: [`RuntimeError::NotRegistered`]; [`RuntimeError::OtherFlow`] if the
    /// registered flow of this name has other inputs; [`RuntimeError::Unstorable`] if the input
    /// cannot be stored as JSON; [`RuntimeError::OtherInput`] if the idempotency key was used with
    /// another input; [`RuntimeError::ShutDown`]; or the store could not be written to. (If the
    /// store failed and could not be asked whether it has the execution, it may have it. An
    /// idempotency key makes it safe to start again.)
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, the execution may have been stored. If so, `recover` resumes it,
    /// in another process once the [`lease`](crate::RuntimeOptions::lease) has run out. An
    /// [`idempotency_key`](StartOptions::idempotency_key) makes it safe to start it again.
    //
    // Not an `async fn`: for a type that is not a flow, rustc would also report its future.
    pub fn start<F: Flow>(
        &self,
        input: F::Input,
        options: StartOptions,
    ) -> Pin<Box<dyn Future<Output = Result<Execution, RuntimeError>> + Send + '_>> {
        let flow = self.owned.shared.registry.to_start(F::NAME);
        let start = flow.and_then(|flow| {
            let Some(saved) = flow.save_input(&input) else {
                return Err(RuntimeError::OtherFlow { flow: F::NAME });
            };
            Start::new(F::NAME, flow, saved)
        });
        Box::pin(async move { self.start_with(start?, options).await })
    }

    /// Starts an execution of the registered flow of this name, of any type, like
    /// [`start`](Executions::start). The input is a JSON object.
    ///
    /// # Errors
    ///
    /// The errors of [`start`](Executions::start); and [`RuntimeError::Input`] with everything that
    /// is wrong if the input does not fit the flow.
    ///
    /// # Cancel safety
    ///
    /// See [`start`](Executions::start).
    pub async fn start_json(
        &self,
        name: &str,
        input: Value,
        options: StartOptions,
    ) -> Result<Execution, RuntimeError> {
        let flow = self.owned.shared.registry.to_start(name)?;
        let saved = match flow.accepted_input(input) {
            Ok(saved) => Ok(saved),
            Err(RefusedInput::Unstorable(unstorable)) => Err(unstorable),
            Err(RefusedInput::Input(error)) => {
                let flow = name.to_owned();
                return Err(RuntimeError::Input { flow, error });
            }
        };
        self.start_with(Start::new(name, flow, saved)?, options)
            .await
    }

    async fn start_with(
        &self,
        start: Start<'_>,
        options: StartOptions,
    ) -> Result<Execution, RuntimeError> {
        let Start { flow, name, input } = start;
        self.owned.shared.set_clock().await?;
        let id = ExecutionId::from(self.owned.shared.ids.next(self.owned.shared.now_ms()));
        if self.owned.shared.tasks.are_draining() {
            return Err(RuntimeError::ShutDown(id));
        }
        let registry = &self.owned.shared.registry;
        registry
            .store_structure(flow.hash(), flow.structure())
            .await?;
        let row = self.new_row(id, name, &flow, &input, &options);
        let began = Record {
            seq: 0,
            at_ms: row.created_ms,
            kind: RecordKind::RunStarted,
            path: flow.namespace().to_owned(),
            step: flow.namespace().to_owned(),
            visit: 0,
            item: None,
            attempt: 0,
            payload: input.text,
        };
        let loaded = Loaded {
            input: input.saved,
            snapshot: None,
            snapshot_bytes: 0,
            records: vec![began],
            pauses: Vec::new(),
            cancellation: None,
            options: options.stored,
            changes: None,
            names: None,
        };
        let is_early = row.not_before_ms.is_some_and(|ms| ms > row.created_ms);
        if is_early || row.concurrency.is_some() {
            return self.enqueue(row, loaded.records).await;
        }
        match self.owned.shared.queue.slots.take(name, false).await {
            // A drain may have seen that all slots are free.
            Some(_) if self.owned.shared.tasks.are_draining() => Err(RuntimeError::ShutDown(id)),
            Some(slot) => self.create(row, flow, loaded, slot).await,
            None => self.enqueue(row, loaded.records).await,
        }
    }

    /// The row of an execution that starts now.
    fn new_row(
        &self,
        id: ExecutionId,
        name: &str,
        flow: &Registered,
        input: &InputJson,
        options: &StartOptions,
    ) -> Row {
        let now_ms = self.owned.shared.now_ms();
        Row {
            id,
            flow: name.to_owned(),
            structure: flow.hash().to_owned(),
            owner: self.owned.owner().map(str::to_owned),
            idempotency_key: options.idempotency_key.clone(),
            input_hash: hash_of(&payload::canonical(&Value::Object(input.saved.0.clone()))),
            status: Status::Running,
            format: JOURNAL_FORMAT,
            options: options.stored.to_json(),
            created_ms: now_ms,
            updated_ms: now_ms,
            wake_ms: None,
            next_seq: 1,
            snapshot_seq: None,
            copied_from: None,
            result: None,
            fence: 0,
            priority: options.priority,
            not_before_ms: options.not_before.map(to_ms),
            concurrency: options.concurrency.clone(),
            halted: None,
            take_overs: None,
            cancelled_ms: None,
        }
    }

    /// Stores an execution that this process has claimed, and begins to run it without reading it
    /// again.
    async fn create(
        &self,
        row: Row,
        flow: Arc<Registered>,
        loaded: Loaded,
        slot: Slot,
    ) -> Result<Execution, RuntimeError> {
        let shared = &self.owned.shared;
        let (_call, term) = (shared.claims.begin(), shared.claims.term());
        let claim = shared.claims.new_claim(term);
        let claimed = Row {
            fence: FIRST_FENCE,
            ..row.clone()
        };
        let unused = UnusedClaim(&shared.claims, row.id);
        let records = loaded.records.clone();
        let create = shared
            .store
            .create(row.clone(), records, Vec::new(), Some(claim));
        let created = match create.await {
            Ok(created) => created,
            Err(error) => self.created_all_the_same(&row, error).await?,
        };
        if let Created::Existing(id) = created {
            unused.forget();
            return self.started_before(id, &row).await;
        }
        shared.committed.notify_waiters();
        if shared.tasks.are_draining() {
            // It is stored, so it has started: another process runs it.
            drop(unused);
            shared.claims.release().await;
        } else {
            unused.forget();
            shared.spawn(&claimed, term, flow, loaded, slot, Suspicion::default());
        }
        Ok(Execution::new(self.owned.clone(), claimed))
    }

    /// Stores an execution that waits for its time or for a place, and begins it if it waits for
    /// neither.
    async fn enqueue(&self, row: Row, records: Vec<Record>) -> Result<Execution, RuntimeError> {
        let shared = &self.owned.shared;
        let row = Row {
            status: Status::Queued,
            ..row
        };
        let create = shared.store.create(row.clone(), records, Vec::new(), None);
        let created = match create.await {
            Ok(created) => created,
            Err(error) => self.created_all_the_same(&row, error).await?,
        };
        if let Created::Existing(id) = created {
            return self.started_before(id, &row).await;
        }
        shared.committed.notify_waiters();
        if !shared.queue.slots.are_none() {
            shared
                .queue
                .queued
                .set(row.not_before_ms.unwrap_or(0), row.id);
            shared.keep_taking();
        }
        Ok(Execution::new(self.owned.clone(), row))
    }

    /// Checks whether the store created an execution although it reported an error. Returns the
    /// error if it did not. `Existing` if somebody has claimed or ended it since.
    pub(crate) async fn created_all_the_same(
        &self,
        row: &Row,
        error: StoreError,
    ) -> Result<Created, RuntimeError> {
        match self.owned.shared.store.execution(row.id).await {
            Ok(Some(found)) if found.fence > FIRST_FENCE => Ok(Created::Existing(row.id)),
            Ok(Some(_)) => Ok(Created::New),
            Ok(None) | Err(_) => Err(error.into()),
        }
    }

    /// The execution that was started with the same idempotency key, if its input was the same.
    pub(crate) async fn started_before(
        &self,
        id: ExecutionId,
        new: &Row,
    ) -> Result<Execution, RuntimeError> {
        let row = self.owned.row(id).await?;
        if row.input_hash != new.input_hash {
            return Err(RuntimeError::OtherInput {
                execution: id,
                idempotency_key: row.idempotency_key.unwrap_or_default(),
            });
        }
        Ok(Execution::new(self.owned.clone(), row))
    }
}

/// A flow that starts, and its inputs.
struct Start<'a> {
    flow: Arc<Registered>,
    name: &'a str,
    input: InputJson,
}

impl<'a> Start<'a> {
    fn new(
        name: &'a str,
        flow: Arc<Registered>,
        saved: Result<Saved, Unstorable>,
    ) -> Result<Self, RuntimeError> {
        let input = input_json(&flow, saved)?;
        Ok(Start { flow, name, input })
    }
}

/// The inputs of a flow, as they are stored.
struct InputJson {
    saved: Saved,
    text: String,
}

fn input_json(
    flow: &Registered,
    saved: Result<Saved, Unstorable>,
) -> Result<InputJson, RuntimeError> {
    let unstorable = |reason: String| RuntimeError::Unstorable {
        execution: None,
        path: flow.namespace().to_owned(),
        reason,
    };
    let saved = saved
        .map_err(|Unstorable { key, reason }| unstorable(format!("input `{key}`: {reason}")))?;
    let text = Value::Object(saved.0.clone()).to_string();
    // The object with the inputs is one more level.
    payload::check(&text, VALUE_DEPTH + 1)
        .map_err(|reason| unstorable(format!("the input: {reason}")))?;
    Ok(InputJson { saved, text })
}
