//! Signals of executions.

use flow_store::hints::Written;
use flow_store::{ExecutionId, NewSignal, Sent, SignalRow, StoreError, refusal};
use redis::Value;
use uuid::Uuid;

use super::database::Database;
use super::read::{PAGE, command};
use super::script::{self, Arguments, integer};
use super::{reply, rows};

/// Sends a signal. A repetition finds the signal by its key or, if it has none, by the id of the
/// call, unless the run has taken it meanwhile.
pub(super) async fn signal(
    database: &Database,
    id: ExecutionId,
    signal: &NewSignal,
) -> Result<Sent, StoreError> {
    refusal::signal_names(id, signal)?;
    let arguments = Arguments::default()
        .id(id.as_uuid())
        .text(&signal.name)
        .text(&signal.payload)
        .text(&signal.digest)
        .optional(signal.key.as_deref())
        .number(signal.now_ms);
    let call = Uuid::new_v4();
    let answer = database.write(&script::SIGNAL, call, arguments).await?;
    let (tag, parts) = reply::tagged(answer)?;
    let mut parts = parts.into_iter().map(reply::text);
    let mut next = || parts.next().flatten().ok_or_else(|| reply::unknown(&tag));
    let parsed = |number: String| number.parse().map_err(|_| reply::unknown(&tag));
    match tag.as_str() {
        "new" => {
            database.tell(Written {
                records: false,
                work: true,
            });
            Ok(Sent::New(parsed(next()?)?))
        }
        "existing" => Ok(Sent::Existing {
            number: parsed(next()?)?,
            digest: next()?,
        }),
        "over" => {
            let status = next()?.parse();
            status.map(Sent::Over).map_err(|_| reply::unknown(&tag))
        }
        "not_found" => Err(StoreError::NotFound(id)),
        other => Err(reply::unknown(other)),
    }
}

/// Returns the signals of an execution that the run has not taken.
pub(super) async fn signals(
    database: &Database,
    id: ExecutionId,
) -> Result<Vec<SignalRow>, StoreError> {
    let key = database.key(&format!("signals:{id}"));
    let (mut signals, mut from) = (Vec::new(), 0);
    loop {
        let mut get = command("XRANGE", &key);
        get.arg(integer(from)).arg("+").arg("COUNT").arg(PAGE);
        let page = page(id, database.command(get).await?)?;
        let is_last = page.len() < PAGE;
        let next = page.last().and_then(|signal| signal.number.checked_add(1));
        signals.extend(page);
        match next {
            Some(next) if !is_last => from = next,
            _ => return Ok(signals),
        }
    }
}

fn page(id: ExecutionId, entries: Value) -> Result<Vec<SignalRow>, StoreError> {
    let entries = reply::array(entries)?.into_iter();
    entries.map(|entry| rows::signal(id, entry)).collect()
}
