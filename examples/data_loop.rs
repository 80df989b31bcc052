//! A loop over the pages of a data set. The rows of a page are read and corrected four at a time.
//! The faults and the results of the page are computed at the same time. Then one branch decides
//! whether the page can be used, and another whether there is a next one.
//!
//! ```text
//! cargo run --example data_loop -- readings.csv
//! ```
//!
//! The file has a heading, and then lines such as `harbour,14,9.3`: station, hour, degrees Celsius.

use std::collections::BTreeMap;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use typed_flows::prelude::*;

const PAGE: usize = 12;

struct Reading {
    station: String,
    celsius: f64,
}

/// The known facts about a station.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Range {
    lowest: f64,
    highest: f64,
    readings: usize,
}

type Ranges = BTreeMap<String, Range>;

impl Range {
    fn and(self, other: Range) -> Range {
        Range {
            lowest: self.lowest.min(other.lowest),
            highest: self.highest.max(other.highest),
            readings: self.readings + other.readings,
        }
    }
}

#[derive(Debug, thiserror::Error)]
enum ReadError {
    #[error("cannot read {0}")]
    Unreadable(PathBuf, #[source] std::io::Error),
    #[error("{0} has no rows")]
    Empty(PathBuf),
}

#[node(blocking, writes(rows, ranges, suspicious))]
fn load(file: &Path) -> Result<(Vec<String>, Ranges, Vec<String>), ReadError> {
    let text = std::fs::read_to_string(file)
        .map_err(|error| ReadError::Unreadable(file.to_owned(), error))?;
    let rows: Vec<String> = text.lines().skip(1).map(str::to_owned).collect();
    if rows.is_empty() {
        return Err(ReadError::Empty(file.to_owned()));
    }
    Ok((rows, Ranges::new(), Vec::new()))
}

#[node(writes(page, rows))]
fn next_page(mut rows: Vec<String>) -> (Vec<String>, Vec<String>) {
    let rest = rows.split_off(PAGE.min(rows.len()));
    (rows, rest)
}

#[derive(Debug, thiserror::Error)]
enum RowError {
    #[error("\"{0}\" is not a row")]
    Malformed(String),
    #[error("{0} degrees in row \"{1}\"")]
    Impossible(f64, String),
}

/// Stands in for a service that knows the sensors of the stations: the sensor of the summit reads
/// half a degree too low.
#[node]
async fn correct(row: &str) -> Result<Reading, RowError> {
    let malformed = || RowError::Malformed(row.to_owned());
    let [station, _hour, celsius] = row.split(',').collect::<Vec<_>>()[..] else {
        return Err(malformed());
    };
    let celsius: f64 = celsius.parse().map_err(|_| malformed())?;
    if !(-60.0..60.0).contains(&celsius) {
        return Err(RowError::Impossible(celsius, row.to_owned()));
    }
    tokio::time::sleep(Duration::from_millis(2)).await;
    let offset = if station == "summit" { 0.5 } else { 0.0 };
    Ok(Reading {
        station: station.to_owned(),
        celsius: celsius + offset,
    })
}

#[node(writes = faults)]
fn find_faults(readings: &[Result<Reading, NodeError>]) -> Vec<String> {
    let errors = readings.iter().filter_map(|row| row.as_ref().err());
    errors.map(|error| error.error().to_string()).collect()
}

#[node(writes = page_ranges)]
fn find_ranges(readings: &[Result<Reading, NodeError>]) -> Ranges {
    let mut ranges = Ranges::new();
    for Reading { station, celsius } in readings.iter().flatten() {
        let reading = Range {
            lowest: *celsius,
            highest: *celsius,
            readings: 1,
        };
        merge(&mut ranges, station, reading);
    }
    ranges
}

fn merge(ranges: &mut Ranges, station: &str, range: Range) {
    let entry = ranges.entry(station.to_owned());
    entry
        .and_modify(|known| *known = known.and(range))
        .or_insert(range);
}

#[node(writes = ranges)]
fn keep(mut ranges: Ranges, page_ranges: &Ranges) -> Ranges {
    for (station, range) in page_ranges {
        merge(&mut ranges, station, *range);
    }
    ranges
}

#[node(writes = suspicious)]
fn set_aside(mut suspicious: Vec<String>, faults: Vec<String>) -> Vec<String> {
    suspicious.extend(faults);
    suspicious
}

flow! {
    /// Finds the range of temperatures of each station. A page with too many faults is left out.
    DataLoop(file: PathBuf) -> (ranges: Ranges, suspicious: Vec<String>) {
        node readings: for row in page { correct } with concurrency(4), collect_errors;
        branch quality(faults, page) {
            faults.len() * 4 > page.len() => "bad",
            else => "usable",
        }
        branch more(rows) {
            rows.is_empty() => "done",
            else => "next",
        }

        start >> load >> next_page >> readings >> [find_faults, find_ranges] >> quality;
        quality - "usable" >> keep >> set_aside >> more;
        quality - "bad"    >> set_aside;
        more    - "next"   >> next_page;
        more    - "done"   >> end;
    }
}

async fn find_all(file: Option<PathBuf>) -> Result<(), Box<dyn Error>> {
    let shipped = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/data/readings.csv");
    let input = DataLoopInput::builder()
        .file(file.clone().unwrap_or(shipped))
        .build();
    let output = DataLoop::new().run(input).await?;

    for (station, range) in &output.ranges {
        let Range {
            lowest,
            highest,
            readings,
        } = range;
        println!("{station:<8} {lowest:>6.1} to {highest:>5.1} °C in {readings} readings");
    }
    println!("{} rows set aside:", output.suspicious.len());
    for fault in &output.suspicious {
        println!("  {fault}");
    }

    if file.is_none() {
        let harbour = Range {
            lowest: 4.6,
            highest: 12.0,
            readings: 17,
        };
        assert_eq!(output.ranges["harbour"], harbour);
        assert_eq!(output.suspicious.len(), 5);
    }
    Ok(())
}

#[tokio::main]
async fn main() -> ExitCode {
    match find_all(std::env::args_os().nth(1).map(PathBuf::from)).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(all(test, feature = "documents"))]
#[path = "law/data_loop.rs"]
mod law;
