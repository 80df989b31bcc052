//! Runs cases: so many (`--cases 100000`), or one (`--case '…'`, as a failure prints it).

use std::process::ExitCode;
use std::time::Duration;

const HELP: &str = "flow-simulation [--cases N] [--seed N] [--threads N] [--shrink SECONDS] [--until-failure] | --case '…' [--verbose]";

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let (mut cases, mut seed, mut threads, mut shrink) = (2000, 1, 2, 10);
    let (mut case, mut verbose, mut until_failure) = (None, false, false);
    while let Some(argument) = arguments.next() {
        if argument == "--verbose" {
            verbose = true;
            continue;
        }
        if argument == "--until-failure" {
            until_failure = true;
            continue;
        }
        let Some(value) = arguments.next() else {
            eprintln!("{HELP}");
            return ExitCode::FAILURE;
        };
        match (argument.as_str(), value.parse::<u64>()) {
            ("--cases", Ok(number)) => cases = number,
            ("--seed", Ok(number)) => seed = number,
            ("--threads", Ok(number)) => threads = number as usize,
            ("--shrink", Ok(number)) => shrink = number,
            ("--case", _) => case = Some(value),
            _ => {
                eprintln!("{HELP}");
                return ExitCode::FAILURE;
            }
        }
    }
    let told = match case {
        Some(case) => flow_simulation::told(&case, verbose),
        None => Ok(flow_simulation::search(seed, cases, threads, until_failure)
            .told(Duration::from_secs(shrink))),
    };
    match told {
        Ok((text, well)) => {
            println!("{text}");
            if well {
                ExitCode::SUCCESS
            } else {
                ExitCode::FAILURE
            }
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
