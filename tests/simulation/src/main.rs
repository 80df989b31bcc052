//! `cargo run --release -p flow-simulation -- --cases 100000` checks so many cases, on all cores,
//! and stops after five failures (`--failures`), with the store in memory or, with `--store postgres`
//! or `--store redis`, on such a server, which it starts, or with `--store sqlite` in files; with
//! `--sagas`, all of them have flows that are undone. With the options that a failure prints, it checks
//! that case.

use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use flow_simulation::{Backend, Case, Changed, Compared, Freeze, Loaded, check};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::from(2)
        }
    }
}

fn option<'a>(arguments: &'a [String], name: &str) -> Option<&'a str> {
    let at = arguments.iter().position(|argument| argument == name)?;
    arguments.get(at + 1).map(String::as_str)
}

fn number(arguments: &[String], name: &str, default: u64) -> Result<u64, String> {
    match option(arguments, name) {
        None => Ok(default),
        Some(text) => text
            .parse()
            .map_err(|error| format!("{name} {text}: {error}")),
    }
}

fn run(arguments: &[String]) -> Result<bool, String> {
    let first = number(arguments, "--seed", 0)?;
    let backend = Backend::parse(option(arguments, "--store").unwrap_or("memory"))?;
    if !backend.starts() {
        return Err("the server of this store is not installed".to_owned());
    }
    if option(arguments, "--flow").is_some() {
        let size = |name, default| number(arguments, name, default).map(|it| it as usize);
        let case = Case {
            flow: size("--flow", 0)?,
            world: number(arguments, "--world", 0)?,
            snapshot_every: size("--snapshot-every", 0)?,
            prune: arguments.iter().any(|argument| argument == "--prune"),
            stops: Case::parse_stops(option(arguments, "--stops").unwrap_or_default())?,
            copies: size("--copies", 0)?,
            loaded: Loaded::parse(option(arguments, "--loaded").unwrap_or("never"))?,
            backend,
            freeze: option(arguments, "--freeze")
                .map(Freeze::parse)
                .transpose()?,
            moves: arguments.iter().any(|argument| argument == "--moves"),
            busy: arguments.iter().any(|argument| argument == "--busy"),
            deleted: match option(arguments, "--deleted") {
                None => None,
                Some(_) => Some(number(arguments, "--deleted", 0)?),
            },
            cancelled: match option(arguments, "--cancelled") {
                None => None,
                Some(_) => Some(number(arguments, "--cancelled", 0)?),
            },
            changed: option(arguments, "--changed")
                .map(Changed::parse)
                .transpose()?,
        };
        return Ok(report(&case).is_some());
    }
    let cases = number(arguments, "--cases", 1)?;
    let most = number(arguments, "--failures", 5)?;
    let sagas = arguments.iter().any(|argument| argument == "--sagas");
    let began = Instant::now();
    let next = AtomicU64::new(first);
    let (failed, other_timeouts) = (AtomicU64::new(0), AtomicU64::new(0));
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= first + cases || failed.load(Ordering::Relaxed) >= most {
                        return;
                    }
                    let case = if sagas {
                        Case::of_saga(seed)
                    } else {
                        Case::of_seed(seed)
                    };
                    let case = Case { backend, ..case };
                    match report(&case) {
                        Some(Compared::Same) => {}
                        Some(Compared::OtherTimeouts) if !case.times_out_as_undisturbed() => {}
                        Some(Compared::OtherTimeouts) => {
                            other_timeouts.fetch_add(1, Ordering::Relaxed);
                        }
                        None => {
                            failed.fetch_add(1, Ordering::Relaxed);
                            eprintln!("(seed {seed})");
                        }
                    }
                }
            });
        }
    });
    let (failed, took) = (failed.into_inner(), began.elapsed());
    let done = next.into_inner().saturating_sub(first).min(cases);
    let other_timeouts = other_timeouts.into_inner();
    println!(
        "{done} cases in {took:.1?}, {failed} failed; in {other_timeouts} the ends were not compared, since other steps timed out"
    );
    Ok(failed == 0)
}

/// Checks a case. `None` if it failed, which is printed.
fn report(case: &Case) -> Option<Compared> {
    check(case).map_err(|failure| eprintln!("{failure}")).ok()
}
