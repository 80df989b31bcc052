//! The output and the results of commands.

use std::io::{self, Write as _};
use std::process::ExitCode;

use flow_spec::visible;

/// The result of a command that was executed. Other commands have an error text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Outcome {
    /// The flow reached an end, or no problem was found.
    Fine,
    /// The flow failed, or a problem was found.
    Found,
}

/// Returns the exit code of a command: 0, or 1 if it [found](Outcome::Found) a problem. If it
/// failed, prints the error on standard error and returns 2.
pub fn exit_code(done: Result<Outcome, String>) -> ExitCode {
    match done {
        Ok(Outcome::Fine) => ExitCode::SUCCESS,
        Ok(Outcome::Found) => ExitCode::from(1),
        Err(error) => {
            tell_error(&error);
            ExitCode::from(2)
        }
    }
}

/// Prints an error. Its text cannot control the terminal.
pub(crate) fn tell_error(error: &str) {
    for (index, line) in error.lines().enumerate() {
        let title = if index == 0 { "error: " } else { "       " };
        eprintln!("{title}{}", visible(line));
    }
}

/// Prints data. A closed output is not an error, as in `list | head -1`.
pub(crate) fn print(text: &str) -> Result<(), String> {
    let mut output = io::stdout().lock();
    let written = output.write_all(text.as_bytes());
    match written.and_then(|()| output.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(format!("the output cannot be written: {error}"))
        }
        _ => Ok(()),
    }
}

/// Parses a key and a value from the command line.
pub(crate) fn pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        _ => Err("write KEY=VALUE".to_owned()),
    }
}

/// Parses a value from the command line: JSON, or else a text.
#[cfg(feature = "executions")]
pub(crate) fn value(text: &str) -> serde_json::Value {
    serde_json::from_str(text).unwrap_or_else(|_| text.into())
}

/// Formats a time, as `2026-11-25T04:05:06Z`.
#[cfg(feature = "executions")]
pub(crate) fn time(time: std::time::SystemTime) -> String {
    use std::time::{Duration, SystemTime};

    // Times after the year 9999 have no such format.
    let last = SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(253_402_300_799));
    let shown = last.map_or(time, |last| time.min(last));
    humantime::format_rfc3339_seconds(shown).to_string()
}
