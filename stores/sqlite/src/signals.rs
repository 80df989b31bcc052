//! Signals of executions.

use flow_store::{
    Append, CANCEL, ExecutionId, NewSignal, Sent, SignalRow, Status, StoreError, refusal,
};
use rusqlite::{Connection, params};

use super::cells;
use super::cells::integer;
use super::read::{self, LED_ASTRAY};
use super::rows::{self, Execution, SIGNAL, Signal};
use super::write::{execute, insert, put};

/// Sends a signal to an execution.
pub(super) fn signal(
    connection: &Connection,
    id: ExecutionId,
    signal: &NewSignal,
) -> Result<Sent, StoreError> {
    refusal::signal_names(id, signal)?;
    let mut execution = read::execution(connection, id)?.ok_or(StoreError::NotFound(id))?;
    if let Some(existing) = with_key(connection, &execution, signal.key.as_deref())? {
        return Ok(Sent::Existing {
            number: existing.number,
            digest: existing.digest,
        });
    }
    if execution.row.status.is_over() {
        return Ok(Sent::Over(execution.row.status));
    }
    execution.signals += 1;
    execution.untaken += 1;
    execution.row.updated_ms = signal.now_ms;
    if signal.name == CANCEL {
        execution.row.cancelled_ms = Some(signal.now_ms);
    }
    if execution.awaited.contains(&signal.name) {
        execution.resume_from(signal.now_ms);
    }
    let number = execution.signals;
    let row = Signal {
        execution: id,
        number,
        name: signal.name.clone(),
        payload: Some(signal.payload.clone()),
        digest: signal.digest.clone(),
        key: signal.key.clone(),
        sent_ms: signal.now_ms,
    };
    let sql = insert("signals", SIGNAL, "");
    cells::write(connection, &sql, "signals", &row.cells())?;
    put(connection, &execution)?;
    Ok(Sent::New(number))
}

/// Returns the signal of an execution with this key, taken or not.
fn with_key(
    connection: &Connection,
    execution: &Execution,
    key: Option<&str>,
) -> Result<Option<Signal>, StoreError> {
    let Some(key) = key else {
        return Ok(None);
    };
    let sql = format!("SELECT {SIGNAL} FROM signals WHERE execution = ?1 AND \"key\" = ?2");
    let values = params![execution.row.id.to_string(), key];
    let found = read::first(connection, &sql, values, rows::signal)?;
    led_to(execution, found, |signal| {
        signal.key.as_deref() == Some(key)
    })
}

/// Returns a signal that an index led to, if it is the one that was looked for.
fn led_to(
    execution: &Execution,
    found: Option<Signal>,
    is_it: impl Fn(&Signal) -> bool,
) -> Result<Option<Signal>, StoreError> {
    match found {
        Some(signal) if signal.execution != execution.row.id || !is_it(&signal) => {
            Err(execution.damage(format!("{LED_ASTRAY} than its signals")))
        }
        found => Ok(found),
    }
}

/// Returns the signals of an execution that the run has not taken.
pub(super) fn signals(
    connection: &Connection,
    id: ExecutionId,
) -> Result<Vec<SignalRow>, StoreError> {
    let Some(execution) = read::execution(connection, id)? else {
        return Ok(Vec::new());
    };
    let sql = format!(
        "SELECT {SIGNAL} FROM signals INDEXED BY signals_untaken \
         WHERE execution = ?1 AND payload IS NOT NULL ORDER BY number"
    );
    let found = read::all(connection, &sql, &[&id.to_string()], rows::signal)?;
    let of_it = found.iter().all(|signal| signal.execution == id);
    let rows: Vec<SignalRow> = found.into_iter().filter_map(Signal::untaken).collect();
    if !of_it || !rows.is_sorted_by(|one, next| one.number < next.number) {
        return Err(execution.damage(format!("{LED_ASTRAY} than its signals")));
    }
    if rows.len() as u64 == execution.untaken {
        return Ok(rows);
    }
    let (found, untaken) = (rows.len(), execution.untaken);
    Err(execution.damage(format!("of its {untaken} signals there are {found}")))
}

/// Takes signals of an execution. Those with a key stay, without their payloads.
pub(super) fn take(
    connection: &Connection,
    execution: &mut Execution,
    taken: &[u64],
) -> Result<(), StoreError> {
    let id = execution.row.id;
    for number in taken {
        let sql = format!("SELECT {SIGNAL} FROM signals WHERE execution = ?1 AND number = ?2");
        let values = params![id.to_string(), integer(*number)];
        let found = read::first(connection, &sql, values, rows::signal)?;
        let found = led_to(execution, found, |signal| signal.number == *number)?;
        let untaken = found.filter(|signal| signal.payload.is_some());
        let signal = untaken.ok_or_else(|| refusal::not_a_signal(id, *number))?;
        if signal.key.is_some() {
            let taken = Signal {
                payload: None,
                ..signal
            };
            // The numbers are those of the columns in `SIGNAL`.
            let sql = "UPDATE signals SET payload = ?4, checksum = ?8 WHERE execution = ?1 AND number = ?2";
            cells::write(connection, sql, "signals", &taken.cells())?;
        } else {
            let sql = "DELETE FROM signals WHERE execution = ?1 AND number = ?2";
            execute(connection, sql, values)?;
        }
        execution.untaken = execution.untaken.saturating_sub(1);
    }
    Ok(())
}

/// Sets the names of the signals for which an execution waits after a write.
pub(super) fn wait_for(
    connection: &Connection,
    execution: &mut Execution,
    append: &Append,
) -> Result<(), StoreError> {
    if execution.row.status != Status::Paused {
        execution.awaited.clear();
    } else if append.status.is_some() || !append.awaited.is_empty() {
        execution.awaited.clone_from(&append.awaited);
    }
    if has_awaited(connection, execution)? {
        execution.resume_from(append.now_ms);
    }
    Ok(())
}

/// Returns `true` if an execution has a signal for which it waits.
pub(super) fn has_awaited(
    connection: &Connection,
    execution: &Execution,
) -> Result<bool, StoreError> {
    if execution.untaken == 0 {
        return Ok(false);
    }
    let sql = format!(
        "SELECT {SIGNAL} FROM signals INDEXED BY signals_untaken \
         WHERE execution = ?1 AND name = ?2 AND payload IS NOT NULL LIMIT 1"
    );
    let id = execution.row.id.to_string();
    for name in &execution.awaited {
        let found = read::first(connection, &sql, params![id, name], rows::signal)?;
        let is_it = |signal: &Signal| signal.name == *name && signal.payload.is_some();
        if led_to(execution, found, is_it)?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}
