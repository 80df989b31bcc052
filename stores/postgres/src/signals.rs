//! Signals of executions.

use flow_store::hints::Written;
use flow_store::{Damaged, ExecutionId, NewSignal, Sent, SignalRow, StoreError, refusal};
use tokio_postgres::Row as Found;
use tokio_postgres::types::Type;
use uuid::Uuid;

use super::database::{Database, Value};
use super::given::integer;
use super::{rows, text};

/// Sends a signal. A repetition finds the signal by its key or, if it has none, by the id of the
/// call, unless the run has taken it meanwhile.
pub(super) async fn signal(
    database: &Database,
    id: ExecutionId,
    signal: &NewSignal,
) -> Result<Sent, StoreError> {
    refusal::signal_names(id, signal)?;
    let sql = "SELECT * FROM {schema}.signal($1, $2, $3, $4, $5, $6, $7, {again})";
    let values: [Value<'_>; _] = [
        (&id.as_uuid(), Type::UUID),
        (&text::stored(&signal.name), Type::TEXT),
        (&text::stored(&signal.payload), Type::TEXT),
        (&text::stored(&signal.digest), Type::TEXT),
        (&signal.key.as_deref().map(text::stored), Type::TEXT),
        (&integer(signal.now_ms), Type::INT8),
        (&Uuid::new_v4(), Type::UUID),
    ];
    let found = database.rows(sql, &values).await?;
    let found = found.first().ok_or(StoreError::NotFound(id))?;
    let sent = sent(id, found)?;
    if let Sent::New(_) = sent {
        database.tell(Written {
            records: false,
            work: true,
        });
    }
    Ok(sent)
}

fn sent(id: ExecutionId, found: &Found) -> Result<Sent, Damaged> {
    let read = || {
        if rows::value::<Option<String>>(found, "over")?.is_some() {
            return Ok(Sent::Over(rows::named(found, "over")?));
        }
        let number = rows::number(found, "number")?;
        let existing = rows::optional_text(found, "existing")?;
        Ok(existing.map_or(Sent::New(number), |digest| Sent::Existing {
            number,
            digest,
        }))
    };
    rows::damaged(Some(id), format!("execution {id}"), read())
}

/// Returns the signals of an execution that the run has not taken.
pub(super) async fn signals(
    database: &Database,
    id: ExecutionId,
) -> Result<Vec<SignalRow>, StoreError> {
    let sql = "SELECT * FROM {schema}.signals \
         WHERE execution = $1 AND payload IS NOT NULL ORDER BY number";
    let found = database.rows(sql, &[(&id.as_uuid(), Type::UUID)]).await?;
    let signals = found.iter().map(|found| Ok(row(id, found)?));
    signals.collect()
}

fn row(id: ExecutionId, found: &Found) -> Result<SignalRow, Damaged> {
    let number = rows::number::<u64>(found, "number");
    let place = match &number {
        Ok(number) => format!("execution {id}, signal {number}"),
        Err(_) => format!("a signal of execution {id}"),
    };
    let read = || {
        Ok(SignalRow {
            number: number?,
            name: rows::text(found, "name")?,
            payload: rows::text(found, "payload")?,
            key: rows::optional_text(found, "key")?,
            sent_ms: rows::number(found, "sent_ms")?,
        })
    };
    rows::damaged(Some(id), place, read())
}
