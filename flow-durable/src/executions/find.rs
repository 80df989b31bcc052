//! Finding executions by the beginnings of their ids.

use flow_store::ExecutionId;
use uuid::Uuid;

use super::Executions;
use crate::error::RuntimeError;
use crate::execution::Execution;
use crate::listed::ListOptions;

/// The minimum number of digits of a beginning. A shorter one would be a slip.
const FEWEST: usize = 4;

/// The maximum number of ids that are named for a beginning.
const MOST_NAMED: usize = 10;

impl Executions {
    /// Returns the id that a person gave: a whole id, or at least its first 4 digits, if no other
    /// execution's id begins with them. Reads at most a few executions, however many there are. A
    /// whole id is returned without looking for the execution.
    ///
    /// # Errors
    ///
    /// [`RuntimeError::UnknownId`], [`RuntimeError::AmbiguousId`], or the store could not be read.
    ///
    /// # Examples
    ///
    /// ```
    /// use flow_durable::{MemoryStore, Runtime, RuntimeError, StartOptions};
    /// use flow_runtime::prelude::*;
    ///
    /// #[node]
    /// fn greet(name: &str) -> String {
    ///     format!("Hello, {name}!")
    /// }
    ///
    /// flow! {
    ///     Greeting(name: String) -> (greet: String) {
    ///         start >> greet >> end;
    ///     }
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), RuntimeError> {
    /// let runtime = Runtime::new(MemoryStore::new());
    /// runtime.register(Greeting::new())?;
    /// let input = GreetingInput { name: "you".into() };
    /// let started = runtime.executions().start::<Greeting>(input, StartOptions::new()).await?;
    ///
    /// let id = started.id().to_string();
    /// assert_eq!(runtime.executions().find_id(&id[..8]).await?, started.id());
    /// # Ok(()) }
    /// ```
    pub async fn find_id(&self, text: &str) -> Result<ExecutionId, RuntimeError> {
        if let Ok(id) = text.parse() {
            return Ok(id);
        }
        let unknown = || RuntimeError::UnknownId(text.to_owned());
        let (first, last) = beginning_with(text).ok_or_else(unknown)?;
        // The newest come first, so those below the last one are next.
        let mut options = ListOptions::new().limit(MOST_NAMED + 1);
        if let Some(after) = last.checked_add(1) {
            options = options.before(Uuid::from_u128(after).into());
        }
        let listed = self.list(options).await?;
        let damaged = listed.damaged().iter().filter_map(|it| it.execution);
        let ids = listed.iter().map(Execution::id).chain(damaged);
        let mut found: Vec<ExecutionId> = ids
            .filter(|id| (first..=last).contains(&id.as_uuid().as_u128()))
            .collect();
        match found[..] {
            [] => Err(unknown()),
            [id] => Ok(id),
            _ => {
                let more = found.len() > MOST_NAMED;
                found.truncate(MOST_NAMED);
                Err(RuntimeError::AmbiguousId {
                    beginning: text.to_owned(),
                    executions: found,
                    more,
                })
            }
        }
    }
}

/// Returns the first and the last id that begin with these digits.
fn beginning_with(text: &str) -> Option<(u128, u128)> {
    let digits = text.replace('-', "");
    let is_short = (FEWEST..32).contains(&digits.len());
    if !is_short || !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return None;
    }
    let first = u128::from_str_radix(&format!("{digits:0<32}"), 16).ok()?;
    let last = u128::from_str_radix(&format!("{digits:f<32}"), 16).ok()?;
    Some((first, last))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use flow_store::{JOURNAL_FORMAT, MemoryStore, Row, Status, Store as _};

    use super::*;
    use crate::runtime::Runtime;

    /// A runtime on a store with executions of these ids and owners.
    async fn with(all: impl IntoIterator<Item = (String, Option<&str>)>) -> Runtime {
        let store = Arc::new(MemoryStore::new());
        for (id, owner) in all {
            let row = Row {
                id: id.parse().unwrap(),
                flow: "Claim".to_owned(),
                structure: String::new(),
                owner: owner.map(str::to_owned),
                idempotency_key: None,
                input_hash: String::new(),
                status: Status::Completed,
                format: JOURNAL_FORMAT,
                options: "{}".to_owned(),
                created_ms: 0,
                updated_ms: 0,
                wake_ms: None,
                next_seq: 0,
                snapshot_seq: None,
                copied_from: None,
                result: None,
                fence: 0,
                priority: 0,
                not_before_ms: None,
                concurrency: None,
                halted: None,
                take_overs: None,
                cancelled_ms: None,
            };
            let stored = store.create(row, Vec::new(), Vec::new(), None).await;
            stored.unwrap();
        }
        Runtime::new(store)
    }

    const FIRST: &str = "01a00000-0000-7000-8000-000000000001";
    const SECOND: &str = "01a00000-0000-7abc-8000-000000000002";
    const OTHERS: &str = "01b00000-0000-7000-8000-000000000003";
    const LAST: &str = "ffffffff-ffff-ffff-ffff-ffffffffffff";

    async fn four() -> Runtime {
        let own = [FIRST, SECOND, LAST].map(|id| (id.to_owned(), None));
        with(own.into_iter().chain([(OTHERS.to_owned(), Some("ann"))])).await
    }

    #[tokio::test]
    async fn a_beginning_is_enough_if_it_is_that_of_one_id() {
        let runtime = four().await;
        for (text, id) in [
            ("01a00000-0000-70", FIRST),
            ("01a00000000070", FIRST),
            ("01A00000-0000-7A", SECOND),
            (&SECOND[..35], SECOND),
            ("01b0", OTHERS),
            ("ffff", LAST),
            (&LAST[..35], LAST),
            (FIRST, FIRST),
        ] {
            let found = runtime.all_owners().find_id(text).await;
            assert_eq!(found.unwrap().to_string(), id, "{text}");
        }
        // Whether it is there, the next call says.
        let none = "01c00000-0000-7000-8000-000000000000";
        let found = runtime.executions().find_id(none).await;
        assert_eq!(found.unwrap().to_string(), none);
    }

    #[tokio::test]
    async fn what_begins_no_id_is_unknown() {
        let runtime = four().await;
        for text in [
            "",
            "01a",
            "01c0",
            "0000",
            "fffe",
            "01a00000-0000-71",
            "+1a0",
            "banana",
            "01a0 ",
            "é1a0",
            "01a00000-0000-7000-8000-0000000000010",
        ] {
            let error = runtime.all_owners().find_id(text).await.unwrap_err();
            assert_eq!(
                error.to_string(),
                format!(
                    "there is no execution `{text}`: write an id, or at least its first 4 digits"
                )
            );
        }
    }

    #[tokio::test]
    async fn what_begins_several_ids_names_them() {
        let runtime = four().await;
        let error = runtime.executions().find_id("01a0").await.unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("the ids of several executions begin with `01a0`:\n  {SECOND}\n  {FIRST}")
        );
        let id = |number: u32| format!("01a00000-0000-7000-8000-{number:012}");
        for (count, more) in [(10, false), (11, true)] {
            let runtime = with((0..count).map(|number| (id(number), None))).await;
            let error = runtime.executions().find_id("01a0").await.unwrap_err();
            let text = error.to_string();
            assert_eq!(text.lines().count(), 11 + usize::from(more), "{text}");
            assert_eq!(text.ends_with("\n  and more"), more, "{text}");
            assert!(text.contains(&id(count - 1)), "the newest: {text}");
        }
    }

    #[tokio::test]
    async fn newer_executions_are_passed_over() {
        let newer = (0..100).map(|number| (format!("01b00000-0000-7000-8000-{number:012}"), None));
        let runtime = with(newer.chain([(FIRST.to_owned(), None)])).await;
        let found = runtime.executions().find_id("01a0").await;
        assert_eq!(found.unwrap().to_string(), FIRST);
    }

    #[tokio::test]
    async fn the_executions_of_others_do_not_exist() {
        let runtime = four().await;
        let ann = runtime.owned_by("ann");
        assert_eq!(ann.find_id("01b0").await.unwrap().to_string(), OTHERS);
        let error = ann.find_id("01a0").await.unwrap_err();
        assert!(matches!(error, RuntimeError::UnknownId(_)), "{error}");
        let error = runtime.executions().find_id("01b0").await.unwrap_err();
        assert!(matches!(error, RuntimeError::UnknownId(_)), "{error}");
    }
}
