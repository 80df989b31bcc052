//! The command `events`.

use flow_durable::{EventFilter, Executions, Record, RuntimeError};
use flow_spec::{visible, visible_json};

use super::arguments;
use super::find::{find, said};
use crate::output::{self, Outcome};

/// The number of characters of a record's content on a line.
const SHOWN: usize = 100;

pub(super) async fn events(
    arguments: &arguments::Events,
    executions: &Executions,
) -> Result<Outcome, String> {
    let execution = find(executions, &arguments.execution).await?;
    let filter = EventFilter::new();
    let filter = if arguments.follow {
        filter
    } else {
        filter.until_now()
    };
    let mut events = execution.events(filter).await.map_err(said)?;
    while let Some(event) = events.next().await {
        let event = match event {
            // The stream continues behind it.
            Err(error @ RuntimeError::DamagedRecord { .. }) => {
                output::tell_error(&said(error));
                continue;
            }
            event => event.map_err(said)?,
        };
        let text = match event.record() {
            _ if arguments.json => visible_json(format!("{}\n", event.to_json())),
            Some(record) => format!("{}\n", visible(&line(record))),
            None => continue,
        };
        output::print(&text)?;
    }
    Ok(Outcome::Fine)
}

/// Formats a record as one line.
pub(super) fn line(record: &Record) -> String {
    let content = record.payload.replace('\n', " ");
    let mut shown: String = content.chars().take(SHOWN).collect();
    if shown.len() < content.len() {
        shown.push('…');
    }
    let line = format!(
        "{:>5}  {:14}  {}  {shown}",
        record.seq,
        record.kind.as_str(),
        record.step
    );
    line.trim_end().to_owned()
}
