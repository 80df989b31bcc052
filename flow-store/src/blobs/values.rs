//! Stores large values before a row is written, and fetches them after one was read.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use futures_util::stream::{self, StreamExt as _, TryStreamExt as _};

use super::begins_like_marker;
use super::entry::Entry;
use super::marker::{Marker, first_name};
use super::place::Blobs;
use crate::{Append, Damaged, ExecutionId, PauseRow, PauseState, Record, Row, Status, StoreError};

/// The number of blobs that one call puts or gets at once.
const AT_ONCE: usize = 8;

/// The place of values, and the size above which they are kept there.
#[derive(Debug, Clone)]
pub(super) struct Values {
    pub(super) blobs: Arc<dyn Blobs>,
    /// The size in bytes above which values are kept as blobs.
    pub(super) above: usize,
}

/// A problem with a value.
pub(super) struct Flaw {
    /// The name of the blob, if it is missing.
    missing: Option<String>,
    pub(super) damaged: Damaged,
}

/// Entries that were read, each with its problem if it has one.
pub(super) type Filled<T> = Vec<(T, Option<Flaw>)>;

/// A marker in an entry that was read.
struct Wanted {
    index: usize,
    execution: ExecutionId,
    place: String,
    marker: String,
}

/// Values to store, by the names of their blobs.
pub(super) struct Away<'a> {
    values: &'a Values,
    execution: ExecutionId,
    pub(super) blobs: BTreeMap<String, Vec<u8>>,
}

impl Away<'_> {
    /// Takes a text that is to be kept as a blob, and leaves a marker in its place. Also takes a
    /// text of any size that looks like a marker, so that none can pass for one.
    pub(super) fn take(&mut self, seq: Option<u64>, text: &mut String) {
        if !self.values.are_to_keep(text) {
            return;
        }
        let value = std::mem::take(text).into_bytes();
        let marker = Marker::of(seq, &value);
        *text = marker.to_string();
        self.blobs.insert(marker.name(self.execution), value);
    }

    pub(super) fn take_answers(&mut self, pauses: &mut [PauseRow]) {
        for pause in pauses {
            if let PauseState::Answered(answer) = &mut pause.state {
                self.take(None, answer);
            }
        }
    }

    /// Takes payloads and a result. The result of an execution that is over is usually the payload
    /// of a record too, and then the same blob: records of such an execution are not pruned later.
    /// This write itself removes the records before `pruned`.
    fn take_records(
        &mut self,
        records: &mut [Record],
        result: Option<&mut String>,
        is_over: bool,
        pruned: Option<u64>,
    ) {
        let result = result.filter(|result| self.values.are_to_keep(result));
        let stays = |record: &Record| pruned.is_none_or(|before| record.seq >= before);
        let same = result.as_ref().filter(|_| is_over).and_then(|result| {
            let mut records = records.iter();
            records.position(|record| stays(record) && record.payload == **result)
        });
        for record in &mut *records {
            self.take(Some(record.seq), &mut record.payload);
        }
        match (result, same) {
            (Some(result), Some(index)) => result.clone_from(&records[index].payload),
            (Some(result), None) => self.take(None, result),
            (None, _) => {}
        }
    }

    /// Stores the values.
    pub(super) async fn put(self) -> Result<(), StoreError> {
        let blobs = &self.values.blobs;
        stream::iter(self.blobs)
            .map(|(name, value)| async move { blobs.put(&name, value).await })
            .buffer_unordered(AT_ONCE)
            .try_collect()
            .await
    }
}

impl Values {
    pub(super) fn away(&self, execution: ExecutionId) -> Away<'_> {
        let blobs = BTreeMap::new();
        Away {
            values: self,
            execution,
            blobs,
        }
    }

    pub(super) fn are_to_keep(&self, text: &str) -> bool {
        text.len() > self.above || begins_like_marker(text)
    }

    /// Takes the large values of a new execution.
    pub(super) fn of_new(
        &self,
        row: &mut Row,
        records: &mut [Record],
        pauses: &mut [PauseRow],
    ) -> Away<'_> {
        let mut away = self.away(row.id);
        away.take_records(records, row.result.as_mut(), row.status.is_over(), None);
        away.take_answers(pauses);
        away
    }

    /// Stores the large values of a write.
    pub(super) async fn put_away(
        &self,
        id: ExecutionId,
        append: &mut Append,
    ) -> Result<(), StoreError> {
        let mut away = self.away(id);
        let is_over = append.status.is_some_and(Status::is_over);
        let (result, pruned) = (append.result.as_mut(), append.prune_before);
        away.take_records(&mut append.records, result, is_over, pruned);
        away.take_answers(&mut append.opened);
        away.put().await
    }

    /// Removes the blobs of pruned records. If this fails, the next call removes the rest, or the
    /// deletion of the execution does.
    pub(super) async fn prune(&self, id: ExecutionId, before: Option<u64>) {
        let Some(before) = before else {
            return;
        };
        if let Ok(mut names) = self.blobs.names(&id.to_string()).await {
            let first = first_name(id, before);
            names.retain(|name| *name < first);
            let _ = self.delete(names).await;
        }
    }

    /// Removes these blobs.
    pub(super) async fn delete(&self, names: Vec<String>) -> Result<(), StoreError> {
        stream::iter(names)
            .map(|name| async move { self.blobs.delete(&name).await })
            .buffer_unordered(AT_ONCE)
            .try_collect()
            .await
    }

    /// Reads entries and replaces markers with their values. A missing blob may have been pruned or
    /// deleted with its row since the read, so it counts as missing only if a second read still
    /// returns the row.
    pub(super) async fn read<T: Entry, Read>(
        &self,
        read: impl Fn() -> Read,
    ) -> Result<Filled<T>, StoreError>
    where
        Read: Future<Output = Result<Vec<T>, StoreError>>,
    {
        let mut known = BTreeSet::new();
        loop {
            let filled = self.fill(read().await?).await?;
            let flaws = filled.iter().filter_map(|(_, flaw)| flaw.as_ref());
            let missing: Vec<&String> = flaws.filter_map(|flaw| flaw.missing.as_ref()).collect();
            if missing.iter().all(|name| known.contains(*name)) {
                return Ok(filled);
            }
            known.extend(missing.into_iter().cloned());
        }
    }

    /// Replaces markers with their values.
    pub(super) async fn fill<T: Entry>(&self, entries: Vec<T>) -> Result<Filled<T>, StoreError> {
        let mut filled: Filled<T> = entries.into_iter().map(|entry| (entry, None)).collect();
        let wanted = filled.iter().enumerate().filter_map(|(index, (entry, _))| {
            let (execution, text) = entry.text()?;
            begins_like_marker(text).then(|| Wanted {
                index,
                execution,
                place: entry.place(),
                marker: text.to_owned(),
            })
        });
        let wanted: Vec<Wanted> = wanted.collect();
        let mut found = stream::iter(wanted)
            .map(|wanted| self.get(wanted))
            .buffer_unordered(AT_ONCE);
        while let Some((index, value)) = found.try_next().await? {
            let (entry, flaw) = &mut filled[index];
            match value {
                Ok(text) => entry.set_text(text),
                Err(found) => *flaw = Some(found),
            }
        }
        Ok(filled)
    }

    /// Fetches the value of a marker, or returns its problem.
    async fn get(&self, wanted: Wanted) -> Result<(usize, Result<String, Flaw>), StoreError> {
        let flaw = |missing, reason| Flaw {
            missing,
            damaged: Damaged {
                execution: Some(wanted.execution),
                place: format!("execution {}, {}", wanted.execution, wanted.place),
                reason,
            },
        };
        let Some(marker) = Marker::read(&wanted.marker) else {
            let reason = "it begins like the marker of a blob, and is not one".to_owned();
            return Ok((wanted.index, Err(flaw(None, reason))));
        };
        let name = marker.name(wanted.execution);
        let Some(value) = self.blobs.get(&name).await? else {
            let reason = format!("the blob `{name}` is missing");
            return Ok((wanted.index, Err(flaw(Some(name), reason))));
        };
        let fault = marker.fault_of(&value);
        let text = String::from_utf8(value).map_err(|_| "is not a text".to_owned());
        let value = match fault {
            Some(fault) => Err(fault),
            None => text,
        };
        let value = value.map_err(|fault| flaw(None, format!("the blob `{name}` {fault}")));
        Ok((wanted.index, value))
    }
}

/// Returns the entries if none has a problem.
pub(super) fn all<T>(filled: Filled<T>) -> Result<Vec<T>, StoreError> {
    let whole = filled.into_iter().map(|(entry, flaw)| match flaw {
        None => Ok(entry),
        Some(flaw) => Err(flaw.damaged.into()),
    });
    whole.collect()
}
