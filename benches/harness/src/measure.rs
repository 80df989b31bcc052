//! The command line of a contender: it checks, times or counts one workload, and prints one line.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use crate::{Contender, Task, Workload};

/// The minimum duration of a sample of more than one run.
const LEAST: Duration = Duration::from_millis(1);

const USAGE: &str =
    "usage: <contender> check|time|allocations|repeat <workload> [milliseconds|runs]";

/// The whole program of a contender.
pub fn main<C: Contender>() -> ExitCode {
    match answer::<C>(&std::env::args().skip(1).collect::<Vec<_>>()) {
        Ok(answer) => {
            println!("{answer}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// Returns the line to print, which may be `unsupported: …`.
fn answer<C: Contender>(arguments: &[String]) -> Result<String, String> {
    let [command, workload, rest @ ..] = arguments else {
        return Err(USAGE.into());
    };
    let workload: Workload = workload.parse()?;
    let amount = match rest {
        [] => None,
        [amount] => Some(
            amount
                .parse::<u64>()
                .map_err(|error| format!("{amount}: {error}"))?,
        ),
        _ => return Err(USAGE.into()),
    };
    let mut task = match C::workload(workload) {
        Ok(task) => task,
        Err(reason) => return Ok(format!("unsupported: {reason}")),
    };
    match command.as_str() {
        "check" => check(&mut task, workload),
        "time" => Ok(time(&mut task, Duration::from_millis(amount.unwrap_or(50)))),
        "allocations" if C::spreads(workload) => {
            Ok("unsupported: it runs on several threads".into())
        }
        "allocations" => allocations(&mut task, amount.unwrap_or(100)),
        "repeat" => {
            task(0..4);
            Ok(counted_runs(&mut task, amount.unwrap_or(100)).to_string())
        }
        _ => Err(USAGE.into()),
    }
}

/// The runs that callgrind counts: it knows this function by its name. Loading a flow is not
/// counted, since random seeds of maps change its number of instructions in each process.
#[inline(never)]
fn counted_runs(task: &mut Task, runs: u64) -> u64 {
    task(0..runs)
}

/// Compares the results of some runs with the expected ones.
fn check(task: &mut Task, workload: Workload) -> Result<String, String> {
    for seed in 0..8 {
        let (found, expected) = (task(seed..seed + 1), workload.expected(seed));
        if found != expected {
            return Err(format!(
                "{workload} of {seed} came to {found} instead of {expected}"
            ));
        }
    }
    Ok("ok".into())
}

/// Nanoseconds per run: the median of the samples that fit into the time. Each takes a millisecond
/// or one run.
fn time(task: &mut Task, time: Duration) -> String {
    let sample = |task: &mut Task, runs: u64| {
        let start = Instant::now();
        task(0..runs);
        start.elapsed()
    };
    // The shorter of two, since interruptions only make a sample longer.
    let shortest = |task: &mut Task, runs| sample(task, runs).min(sample(task, runs));
    let mut runs = 1;
    while sample(task, runs) < LEAST && shortest(task, runs) < LEAST && runs < 1 << 40 {
        runs *= 2;
    }
    let end = Instant::now() + time;
    let mut samples = Vec::new();
    while samples.len() < 3 || Instant::now() < end {
        samples.push(sample(task, runs).as_nanos() as f64 / runs as f64);
    }
    samples.sort_by(f64::total_cmp);
    format!("{:.2}", samples[samples.len() / 2])
}

#[cfg(not(feature = "allocations"))]
fn allocations(_task: &mut Task, _runs: u64) -> Result<String, String> {
    Err("it is built without the feature `allocations` of bench-harness".into())
}

/// Allocations and bytes per run, without the first few runs.
#[cfg(feature = "allocations")]
fn allocations(task: &mut Task, runs: u64) -> Result<String, String> {
    task(0..4);
    let mut count = |runs: u64| {
        let counted = allocation_counter::measure(|| {
            task(0..runs);
        });
        (counted.count_total as f64, counted.bytes_total as f64)
    };
    // The difference leaves out the cost of the call itself, which is in both.
    let (few, many) = (count(runs), count(2 * runs));
    let per_run = |few: f64, many: f64| (many - few) / runs as f64;
    Ok(format!(
        "{:.2} {:.0}",
        per_run(few.0, many.0),
        per_run(few.1, many.1)
    ))
}
