//! Copies an execution with other values, to see where they lead.
//!
//! The copy has the records of the original before the node at which the outermost flow is. Then it
//! has a snapshot with the other values, from which it begins as from any snapshot. So a replay of
//! the copy needs nothing special.

use std::sync::Arc;

use flow_spec::did_you_mean;
use flow_store::{ExecutionId, Record, RecordKind, Row};
use serde_json::{Map, Value, json};

use super::Executions;
use crate::engine::UNFIT;
use crate::entry::{Copied, Snapshot, is_end};
use crate::error::RuntimeError;
use crate::execution::Execution;
use crate::options::StoredOptions;
use crate::payload::{self, PAYLOAD_DEPTH, VALUE_DEPTH};
use crate::registered::Registered;
use crate::shared::Loaded;
use flow_runtime::engine::Saved;

impl Executions {
    /// Copies an execution like [`copy`](Executions::copy), but continues with other values of some
    /// keys. These are keys of the outermost flow that have a value after the record, as
    /// [`state`](Executions::state) shows. At record 0 they are the inputs.
    ///
    /// The copy continues with the whole node at which the outermost flow is after the record. The
    /// node may have failed, or been done in part, as a fork or a flow used as a node can be. The
    /// copy's journal has the values that it begins with, and the record
    /// [`RunCopied`](RecordKind::RunCopied) has the other values.
    ///
    /// # Errors
    ///
    /// [`RuntimeError::Unchangeable`] with all that is wrong: a key has no value there, a value
    /// does not fit the type of its key, or no node follows that could use it. The errors of
    /// [`state`](Executions::state); or the store could not be written to. No execution is started
    /// then.
    ///
    /// # Examples
    ///
    /// ```
    /// use flow_durable::{MemoryStore, RecordKind, Runtime, RuntimeError, StartOptions};
    /// use flow_runtime::prelude::*;
    /// use serde_json::{Map, json};
    ///
    /// #[node]
    /// fn draft(topic: &str) -> String {
    ///     format!("all about {topic}")
    /// }
    ///
    /// #[node(writes = text)]
    /// fn publish(draft: &str) -> String {
    ///     format!("Published: {draft}")
    /// }
    ///
    /// flow! {
    ///     Article(topic: String) -> (text: String) {
    ///         start >> draft >> publish >> end;
    ///     }
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), RuntimeError> {
    /// let runtime = Runtime::new(MemoryStore::new());
    /// runtime.register(Article::new())?;
    /// let input = ArticleInput { topic: "ants".into() };
    /// let execution = runtime.executions().start::<Article>(input, StartOptions::new()).await?.settled().await?;
    ///
    /// let journal = execution.journal().await?;
    /// let drafted = journal.iter().find(|record| record.kind == RecordKind::NodeFinished).unwrap();
    /// let other = Map::from_iter([("draft".to_owned(), json!("some words on ants"))]);
    /// let copy = runtime.executions().copy_with(execution.id(), drafted.seq, other).await?.settled().await?;
    /// assert_eq!(copy.output::<Article>()?.unwrap().text, "Published: some words on ants");
    ///
    /// let other = Map::from_iter([("draft".to_owned(), json!(7)), ("drafd".to_owned(), json!(""))]);
    /// let refused = runtime.executions().copy_with(execution.id(), drafted.seq, other).await.unwrap_err();
    /// let RuntimeError::Unchangeable { reasons, .. } = refused else { panic!("{refused}") };
    /// assert_eq!(
    ///     reasons,
    ///     [
    ///         "`draft`: invalid type: integer `7`, expected a string",
    ///         "the flow has no value `drafd` there: did you mean `draft`?",
    ///     ],
    /// );
    /// # Ok(()) }
    /// ```
    pub async fn copy_with(
        &self,
        id: ExecutionId,
        seq: u64,
        values: Map<String, Value>,
    ) -> Result<Execution, RuntimeError> {
        let (row, loaded) = self.load_until(id, seq).await?;
        let flow = self.owned.shared.registry.version(&row).await?;
        let options = loaded.options.clone();
        let unchangeable = |reasons| RuntimeError::Unchangeable {
            execution: id,
            seq,
            reasons,
        };
        let Some(mut at) = self.owned.shared.look(&row, &flow, loaded).await?.at else {
            let reason = "the flow is at its end there, and no node could use them".to_owned();
            return Err(unchangeable(vec![reason]));
        };
        let mut reasons = Vec::new();
        let mut state = at.before.state.clone();
        for (key, value) in &values {
            let mut before = at.before.clone();
            match before.state.get_mut(key) {
                Some(old) => old.clone_from(value),
                None => {
                    reasons.push(no_value(key, &before));
                    continue;
                }
            }
            match self.fits(&row, &flow, before, &options, key).await? {
                Ok(value) => drop(state.insert(key.clone(), value)),
                Err(reason) => reasons.push(reason),
            }
        }
        at.before.state = state;
        if reasons.is_empty()
            && let Err(reason) = payload::check(&json!(at.before).to_string(), PAYLOAD_DEPTH)
        {
            reasons.push(reason);
        }
        if !reasons.is_empty() {
            return Err(unchangeable(reasons));
        }
        let mut records = self.history(id, seq).await?;
        cut_before(&mut records, &at.step);
        let copied = Copied {
            execution: id,
            seq,
            values: Some(values),
        };
        self.create_copy(row, records, copied, Some(at)).await
    }

    /// The value of a key in a state, as its type writes it; or why it does not fit the type.
    async fn fits(
        &self,
        row: &Row,
        flow: &Arc<Registered>,
        state: Snapshot,
        options: &StoredOptions,
        key: &str,
    ) -> Result<Result<Value, String>, RuntimeError> {
        let value = state.state.get(key).map(Value::to_string);
        if let Err(reason) = payload::check(&value.unwrap_or_default(), VALUE_DEPTH) {
            return Ok(Err(format!("`{key}`: {reason}")));
        }
        let loaded = Loaded {
            input: Saved(state.input.clone()),
            snapshot: Some(state),
            snapshot_bytes: 0, // no run follows, so no snapshot either
            records: Vec::new(),
            pauses: Vec::new(),
            cancellation: None,
            options: options.clone(),
            changes: None,
            names: self.owned.shared.registry.names(row, flow).await?,
        };
        match self.owned.shared.look(row, flow, loaded).await {
            Ok(captured) => {
                let at = captured.at;
                let value = at.and_then(|mut at| at.before.state.remove(key));
                Ok(value.ok_or_else(|| format!("`{key}`: the value is lost when it is stored")))
            }
            Err(
                RuntimeError::Unreadable { reason, .. } | RuntimeError::Unstorable { reason, .. },
            ) => {
                let reason = reason.strip_prefix(UNFIT).unwrap_or(&reason);
                Ok(Err(reason.to_owned()))
            }
            Err(error) => Err(error),
        }
    }
}

fn no_value(key: &str, before: &Snapshot) -> String {
    let keys = before.state.keys().map(String::as_str);
    match did_you_mean(key, keys) {
        Some(help) => format!("the flow has no value `{key}` there: {help}"),
        None => format!("the flow has no value `{key}` there, and no other either"),
    }
}

/// Removes the records from the start of this step on, and the record of the execution's end.
fn cut_before(records: &mut Vec<Record>, step: &str) {
    records.retain(|record| !is_end(record.kind));
    let began = |record: &Record| record.kind == RecordKind::NodeStarted && record.step == step;
    if let Some(at) = records.iter().rposition(began) {
        records.truncate(at);
    }
}
