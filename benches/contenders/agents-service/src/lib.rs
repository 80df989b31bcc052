//! The service behind the tool of every agent, and the code that measures and kills agents.
//!
//! The agents use a model that answers immediately: it calls the tool in a number of turns, and
//! then answers.

use std::error::Error;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::PathBuf;
use std::process::{self, Command};
use std::sync::OnceLock;
use std::thread;
use std::time::{Duration, Instant};

/// The question of the person.
pub const QUESTION: &str = "What do I need in Bergen?";

/// The final answer of the model.
pub const ANSWER: &str = "Take an umbrella.";

/// The minimum number of measurements of a duration.
const LEAST_RUNS: usize = 3;

/// Returns the weather in a town.
///
/// # Errors
///
/// The town is unknown.
pub fn forecast(town: &str) -> Result<String, String> {
    happens("tool");
    match town {
        "Bergen" => Ok("rain, 9 degrees".to_owned()),
        other => Err(format!("there is no town `{other}`")),
    }
}

/// Logs a call of the model or the tool in the file that `AGENT_LOG` names, if any. At the call
/// with the number `AGENT_KILL`, kills the process: the call was made, but its result is lost.
///
/// # Panics
///
/// The file cannot be written to, or the process cannot be killed.
pub fn happens(what: &str) {
    static LOG: OnceLock<Option<PathBuf>> = OnceLock::new();
    let Some(file) = LOG.get_or_init(|| std::env::var_os("AGENT_LOG").map(PathBuf::from)) else {
        return;
    };
    let mut log = OpenOptions::new().create(true).append(true).open(file);
    let log = log.as_mut().expect("the log can be opened");
    writeln!(log, "{what}").expect("the log can be written to");
    let written = std::fs::read_to_string(file).expect("the log can be read");
    if std::env::var("AGENT_KILL").is_ok_and(|at| at == written.lines().count().to_string()) {
        let killed = Command::new("kill")
            .args(["-9", &process::id().to_string()])
            .status();
        killed.expect("there is a program `kill`");
        thread::sleep(Duration::from_secs(10));
        panic!("the process was not killed");
    }
}

/// Returns true if the model calls the tool again, given the number of messages: the question, and
/// a call and a result for each turn.
pub fn calls_the_tool(messages: usize, turns: usize) -> bool {
    messages < 1 + 2 * turns
}

/// The nanoseconds of a turn: the median of the runs within this many milliseconds, after one to
/// warm up.
///
/// # Errors
///
/// A run failed, or its answer was not [`ANSWER`].
pub async fn nanoseconds_per_turn(
    turns: usize,
    milliseconds: u64,
    mut run: impl AsyncFnMut() -> Result<Option<String>, Box<dyn Error>>,
) -> Result<f64, Box<dyn Error>> {
    let mut taken = Vec::new();
    answered(run().await?)?;
    let began = Instant::now();
    while taken.len() < LEAST_RUNS || began.elapsed() < Duration::from_millis(milliseconds) {
        let start = Instant::now();
        let answer = run().await?;
        taken.push(start.elapsed());
        answered(answer)?;
    }
    taken.sort();
    Ok(taken[taken.len() / 2].as_nanos() as f64 / turns as f64)
}

/// Checks an answer.
///
/// # Errors
///
/// It is not [`ANSWER`].
pub fn answered(answer: Option<String>) -> Result<(), String> {
    match answer.as_deref() {
        Some(ANSWER) => Ok(()),
        other => Err(format!("the agent answers {other:?}")),
    }
}
