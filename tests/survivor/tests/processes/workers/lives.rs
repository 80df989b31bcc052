//! What workers have noted, and who had which execution when.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

use serde::Deserialize;

use crate::support::Outcome;

/// What became of a worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// It was killed, at this time in microseconds.
    Killed(u64),
    /// It was asked to end then, and had ended then.
    Drained { asked_us: u64, ended_us: u64 },
}

/// A worker, from its beginning to its end.
pub(crate) struct Life {
    pub(crate) name: String,
    pub(crate) end: End,
    /// From when to when it was stopped, each time.
    pub(crate) stops: Vec<(u64, u64)>,
    pub(crate) notes: Notes,
}

impl Life {
    pub(crate) fn killed_us(&self) -> Option<u64> {
        match self.end {
            End::Killed(at) => Some(at),
            End::Drained { .. } => None,
        }
    }

    pub(crate) fn end_us(&self) -> u64 {
        match self.end {
            End::Killed(at) => at,
            End::Drained { ended_us, .. } => ended_us,
        }
    }
}

/// An execution that a worker took or claimed.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Had {
    pub(crate) id: String,
    pub(crate) fence: u64,
}

/// A call that took or claimed executions.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Taking {
    pub(crate) from: u64,
    pub(crate) to: u64,
    pub(crate) now_ms: u64,
    pub(crate) until_ms: u64,
    /// How many executions of each flow could be taken.
    #[serde(default)]
    pub(crate) flows: BTreeMap<String, u64>,
    pub(crate) had: Vec<Had>,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Renewal {
    pub(crate) from: u64,
    pub(crate) to: u64,
    pub(crate) until_ms: u64,
    pub(crate) held: Vec<String>,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Write {
    pub(crate) id: String,
    pub(crate) fence: u64,
    pub(crate) seqs: Vec<u64>,
    pub(crate) outcomes: Vec<String>,
    pub(crate) status: Option<String>,
    pub(crate) release: bool,
    pub(crate) from: u64,
    /// When it was answered. `None` if it never was.
    #[serde(default)]
    pub(crate) to: Option<u64>,
    #[serde(default)]
    pub(crate) error: Option<String>,
}

impl Write {
    /// Whether the store has said that it is done.
    pub(crate) fn is_done(&self) -> bool {
        self.to.is_some() && self.error.is_none()
    }

    /// Whether it may be done, as far as its process has learnt.
    pub(crate) fn may_be_done(&self) -> bool {
        self.error.is_none()
    }

    pub(crate) fn completes(&self) -> bool {
        self.status.as_deref() == Some("completed")
    }
}

#[derive(Deserialize)]
#[serde(tag = "call", rename_all = "lowercase")]
enum Line {
    Take(Taking),
    Claim(Taking),
    Renew(Renewal),
    Begin(Write),
    Append(Write),
    Break { id: String },
}

/// What a worker has noted.
#[derive(Default)]
pub(crate) struct Notes {
    /// Which steps began and were done, and when, in milliseconds.
    pub(crate) began: Vec<(u64, String)>,
    pub(crate) done: Vec<(u64, String)>,
    pub(crate) takes: Vec<Taking>,
    pub(crate) claims: Vec<Taking>,
    pub(crate) renewals: Vec<Renewal>,
    pub(crate) writes: Vec<Write>,
    pub(crate) broken: Vec<String>,
}

impl Notes {
    /// Of a process that was killed, the last line may be a part of one.
    pub(crate) fn read(file: &Path) -> Outcome<Notes> {
        let mut notes = Notes::default();
        // It is there as soon as there is a note.
        let text = match fs::read_to_string(file) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            text => text?,
        };
        for line in text.lines().filter_map(|line| line.strip_suffix(';')) {
            if line.starts_with('{') {
                notes.add(serde_json::from_str(line)?);
                continue;
            }
            let mut words = line.splitn(3, ' ');
            let (what, at, step) = (words.next(), words.next(), words.next());
            let at_ms = at.ok_or("no time")?.parse()?;
            let step = step.ok_or("no step")?.to_owned();
            match what {
                Some("began") => notes.began.push((at_ms, step)),
                Some("done") => notes.done.push((at_ms, step)),
                _ => return Err(format!("`{line}` is no line of a step").into()),
            }
        }
        Ok(notes)
    }

    fn add(&mut self, line: Line) {
        match line {
            Line::Take(taking) => self.takes.push(taking),
            Line::Claim(taking) => self.claims.push(taking),
            Line::Renew(renewal) => self.renewals.push(renewal),
            Line::Begin(write) => self.writes.push(write),
            Line::Append(write) => {
                let is_it = |begun: &&mut Write| begun.to.is_none() && begun.from == write.from;
                let same = |begun: &&mut Write| is_it(begun) && begun.id == write.id;
                match self.writes.iter_mut().rev().find(same) {
                    Some(begun) => *begun = write,
                    None => self.writes.push(write),
                }
            }
            Line::Break { id } => self.broken.push(id),
        }
    }
}

/// How a worker had an execution, from a claim on.
#[derive(Debug, Clone)]
pub(crate) struct Tenure {
    /// The number of the worker.
    pub(crate) life: usize,
    pub(crate) fence: u64,
    /// The time before the claim, and after it.
    pub(crate) from: u64,
    pub(crate) to: u64,
    /// Until when it was claimed, as far as the worker knew.
    pub(crate) until_ms: u64,
    /// Whether it came out of the queue.
    pub(crate) is_taken: bool,
    /// When it was given up: the time before and after that was written, if that was answered.
    pub(crate) released: Option<(u64, Option<u64>)>,
}

/// What happened to an execution.
#[derive(Debug, Clone, Default)]
pub(crate) struct History {
    /// In the order of their fences.
    pub(crate) tenures: Vec<Tenure>,
    /// What was written, by which worker.
    pub(crate) writes: Vec<(usize, Write)>,
}

impl History {
    /// The claim after this one.
    pub(crate) fn after(&self, tenure: &Tenure) -> Option<&Tenure> {
        self.tenures.iter().find(|next| next.fence > tenure.fence)
    }

    /// When it left the queue: the time before that and after it.
    pub(crate) fn taken(&self) -> Option<(u64, u64)> {
        let taken = self.tenures.iter().find(|tenure| tenure.is_taken)?;
        Some((taken.from, taken.to))
    }

    /// The write that completed it: the time before that, and after it if it was answered.
    pub(crate) fn completed(&self) -> Option<(u64, Option<u64>)> {
        let completes = |write: &&Write| write.completes() && write.may_be_done();
        let writes = self.writes.iter().map(|(_, write)| write);
        let last = writes.filter(completes).max_by_key(|write| write.from)?;
        Some((last.from, last.to))
    }
}

/// What happened to each execution, by its id.
pub(crate) fn histories(lives: &[Life]) -> BTreeMap<String, History> {
    let mut all: BTreeMap<String, History> = BTreeMap::new();
    for (number, life) in lives.iter().enumerate() {
        let notes = &life.notes;
        let takes = notes.takes.iter().map(|taking| (true, taking));
        let claims = notes.claims.iter().map(|taking| (false, taking));
        for (is_taken, taking) in takes.chain(claims) {
            for had in &taking.had {
                let history = all.entry(had.id.clone()).or_default();
                history.tenures.push(Tenure {
                    life: number,
                    fence: had.fence,
                    from: taking.from,
                    to: taking.to,
                    until_ms: taking.until_ms,
                    is_taken,
                    released: None,
                });
            }
        }
        for write in &notes.writes {
            let history = all.entry(write.id.clone()).or_default();
            history.writes.push((number, write.clone()));
        }
    }
    for history in all.values_mut() {
        history.tenures.sort_by_key(|tenure| tenure.fence);
        release(history);
    }
    renew(&mut all, lives);
    all
}

fn release(history: &mut History) {
    for tenure in &mut history.tenures {
        let gives_up = |(life, write): &&(usize, Write)| {
            let is_own = *life == tenure.life && write.fence == tenure.fence;
            is_own && write.release && write.may_be_done()
        };
        let last = history.writes.iter().rfind(gives_up);
        tenure.released = last.map(|(_, write)| (write.from, write.to));
    }
}

/// Notes until when claims were prolonged.
fn renew(all: &mut BTreeMap<String, History>, lives: &[Life]) {
    for (number, life) in lives.iter().enumerate() {
        for renewal in &life.notes.renewals {
            for id in &renewal.held {
                let Some(history) = all.get_mut(id) else {
                    continue;
                };
                // Of claims that were made meanwhile it is not known which one was prolonged.
                let known = |tenure: &Tenure| tenure.life == number && tenure.to <= renewal.from;
                let Some(at) = history.tenures.iter().rposition(known) else {
                    continue;
                };
                let next = history.tenures.get(at + 1);
                if next.is_none_or(|next| next.from > renewal.to) {
                    let tenure = &mut history.tenures[at];
                    tenure.until_ms = tenure.until_ms.max(renewal.until_ms);
                }
            }
        }
    }
}
