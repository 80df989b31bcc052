//! What has to be true of claims, writes and steps.

use std::collections::{BTreeMap, BTreeSet};

use super::lives::{End, History, Life, Tenure};

/// For how long a process that was stopped goes on as if no time had gone by.
const AWAKE_US: u64 = 1_000_000;

pub(crate) type Histories = BTreeMap<String, History>;

/// How long it took until somebody went on with executions, in microseconds, by what had happened.
#[derive(Default)]
pub(crate) struct Times {
    /// Since their worker was killed.
    pub(crate) killed: Vec<u64>,
    /// Since a worker that drains gave them up.
    pub(crate) drained: Vec<u64>,
    /// How often a lease ran out although its worker lived, stopped or not.
    pub(crate) ran_out: usize,
    /// How often a step began again after a death.
    pub(crate) reruns: usize,
    /// How many steps began late, as their worker was stopped right before.
    pub(crate) late: usize,
}

/// Nobody has a claim while somebody else has one, and nobody writes without.
pub(crate) fn judge_claims(all: &Histories, lives: &[Life], wrong: &mut Vec<String>) {
    for life in lives {
        let broken = life.notes.broken.iter();
        wrong.extend(broken.map(|id| format!("{} broke the claim to {id}", life.name)));
    }
    judge_renewals(all, lives, wrong);
    for (id, history) in all {
        for pair in history.tenures.windows(2) {
            let [tenure, next] = pair else { continue };
            let (who, other) = (&lives[tenure.life].name, &lives[next.life].name);
            let fence = next.fence;
            if tenure.fence == next.fence {
                wrong.push(format!("{who} and {other} have claim {fence} to {id}"));
            }
            if next.is_taken {
                wrong.push(format!("{other} took {id} out of the queue after {who}"));
            }
            let is_over = match tenure.released {
                Some((from, _)) => from < next.to,
                None => false,
            };
            // The store may judge by its own clock, which is read before it answers.
            let answered_ms = next.to / 1000;
            if !is_over && answered_ms < tenure.until_ms {
                let early = tenure.until_ms - answered_ms;
                wrong.push(format!(
                    "{other} took {id} from {who}, {early} ms before the claim was over"
                ));
            }
        }
        judge_writes(id, history, lives, wrong);
    }
}

/// A worker renews its own claims only.
fn judge_renewals(all: &Histories, lives: &[Life], wrong: &mut Vec<String>) {
    for (number, life) in lives.iter().enumerate() {
        for renewal in &life.notes.renewals {
            for id in &renewal.held {
                let had = |tenure: &Tenure| tenure.life == number && tenure.from <= renewal.to;
                let is_own = all.get(id).is_some_and(|it| it.tenures.iter().any(had));
                if !is_own {
                    wrong.push(format!(
                        "{} renewed the claim of another to {id}",
                        life.name
                    ));
                }
            }
        }
    }
}

fn judge_writes(id: &str, history: &History, lives: &[Life], wrong: &mut Vec<String>) {
    let mut fences: BTreeMap<u64, u64> = BTreeMap::new();
    for (life, write) in &history.writes {
        let (who, fence) = (&lives[*life].name, write.fence);
        if let Some(error) = write.error.as_deref()
            && error != "lost"
        {
            wrong.push(format!("{who} could not write to {id}: {error}"));
        }
        if !write.is_done() {
            continue;
        }
        let is_own = |tenure: &&Tenure| tenure.life == *life && tenure.fence == fence;
        let Some(tenure) = history.tenures.iter().find(is_own) else {
            wrong.push(format!("{who} wrote to {id} with claim {fence} of another"));
            continue;
        };
        if let Some(next) = history.after(tenure)
            && write.from > next.to
        {
            let late = write.from - next.to;
            let other = &lives[next.life].name;
            wrong.push(format!(
                "{who} wrote to {id} {late} µs after {other} had claimed it: {:?}",
                write.seqs
            ));
        }
        for seq in &write.seqs {
            if fences.insert(*seq, fence).is_some() {
                wrong.push(format!("record {seq} of {id} was written twice"));
            }
        }
    }
    if !fences.values().is_sorted() {
        wrong.push(format!("claims wrote to {id} out of turn: {fences:?}"));
    }
}

/// A beginning of a step.
struct Beginning<'a> {
    life: usize,
    at_ms: u64,
    /// The claim of the worker at that time.
    tenure: Option<&'a Tenure>,
}

fn split(step: &str) -> (&str, &str) {
    step.split_once('/').unwrap_or((step, ""))
}

/// A step begins only where its execution was claimed, not once its outcome is recorded, and again
/// only if its worker lost the claim in the middle.
pub(crate) fn judge_steps(
    all: &Histories,
    lives: &[Life],
    times: &mut Times,
    wrong: &mut Vec<String>,
) {
    let mut steps: BTreeMap<&str, Vec<Beginning<'_>>> = BTreeMap::new();
    for (number, life) in lives.iter().enumerate() {
        for (at_ms, step) in &life.notes.began {
            let own = all.get(split(step).0).into_iter();
            let own = own.flat_map(|history| &history.tenures);
            let own = own.filter(|tenure| tenure.life == number && tenure.from / 1000 <= *at_ms);
            steps.entry(step).or_default().push(Beginning {
                life: number,
                at_ms: *at_ms,
                tenure: own.max_by_key(|tenure| tenure.fence),
            });
        }
    }
    for (step, mut beginnings) in steps {
        let (id, name) = split(step);
        let Some(history) = all.get(id) else {
            wrong.push(format!("{step} began, and nobody had claimed it"));
            continue;
        };
        let has = |outcomes: &[String]| outcomes.iter().any(|outcome| outcome == name);
        let writes = history.writes.iter().map(|(_, write)| write);
        let recorded = writes
            .filter(|write| write.is_done() && has(&write.outcomes))
            .filter_map(|write| write.to)
            .min();
        beginnings.sort_by_key(|beginning| beginning.at_ms);
        for (index, beginning) in beginnings.iter().enumerate() {
            let life = &lives[beginning.life];
            let at_us = beginning.at_ms * 1000;
            let Some(tenure) = beginning.tenure else {
                wrong.push(format!("{} began {step} without a claim", life.name));
                continue;
            };
            let lost = history.after(tenure).is_some_and(|next| at_us > next.to);
            let was_stopped = life
                .stops
                .iter()
                .any(|(_, until)| at_us + 1000 >= *until && at_us < until + AWAKE_US);
            if was_stopped && lost {
                times.late += 1;
                continue;
            }
            if lost {
                wrong.push(format!("{} began {step} after it was lost", life.name));
            }
            if recorded.is_some_and(|recorded| at_us > recorded) {
                wrong.push(format!("{} began {step} once recorded", life.name));
            }
            if index > 0 {
                times.reruns += 1;
                judge_again(step, history, &beginnings[index - 1], tenure, lives, wrong);
            }
        }
    }
}

/// A step that began again was under way when its worker lost the claim: it gave up nothing.
fn judge_again(
    step: &str,
    history: &History,
    before: &Beginning<'_>,
    tenure: &Tenure,
    lives: &[Life],
    wrong: &mut Vec<String>,
) {
    let Some(first) = before.tenure else {
        return;
    };
    let who = &lives[before.life].name;
    if first.fence >= tenure.fence {
        wrong.push(format!("{step} began twice in {who}"));
    } else if let Some((_, Some(_))) = first.released
        && history.after(first).is_some()
    {
        wrong.push(format!("{who} gave up {step} in the middle"));
    }
}

/// Who drains ends the steps that it began, and keeps nothing.
pub(crate) fn judge_drained(all: &Histories, lives: &[Life], wrong: &mut Vec<String>) {
    for life in lives {
        let End::Drained { .. } = life.end else {
            continue;
        };
        let done: BTreeSet<&str> = life.notes.done.iter().map(|(_, step)| &**step).collect();
        for (_, step) in &life.notes.began {
            // Somebody else may have taken over a worker that was stopped, whose run is dropped then.
            if !done.contains(&**step) && life.stops.is_empty() {
                let is_lost = all.get(split(step).0).is_some_and(|history| {
                    let own = |tenure: &&Tenure| lives[tenure.life].name == life.name;
                    let mut own = history.tenures.iter().filter(own);
                    own.any(|tenure| tenure.released.is_none() && history.after(tenure).is_some())
                });
                if !is_lost {
                    wrong.push(format!("{} drained, and dropped {step}", life.name));
                }
            }
        }
    }
    for (id, history) in all {
        for tenure in &history.tenures {
            let life = &lives[tenure.life];
            let kept = tenure.released.is_none()
                && history
                    .after(tenure)
                    .is_none_or(|next| next.to > life.end_us());
            if life.killed_us().is_none() && kept {
                wrong.push(format!("{} ended, and kept its claim to {id}", life.name));
            }
        }
    }
}

/// How long it took until somebody went on.
pub(crate) fn taken_over(all: &Histories, lives: &[Life], times: &mut Times) {
    for history in all.values() {
        for tenure in &history.tenures {
            let (life, next) = (&lives[tenure.life], history.after(tenure));
            let Some(next) = next else { continue };
            match (life.end, tenure.released) {
                (End::Killed(at), None) if next.to > at => times.killed.push(next.to - at),
                (_, None) => times.ran_out += 1,
                (End::Drained { asked_us, .. }, Some((from, _))) if from >= asked_us => {
                    let is_running = |(life, write): &&(usize, super::lives::Write)| {
                        *life == tenure.life && write.from == from && write.status.is_none()
                    };
                    if history.writes.iter().any(|write| is_running(&write)) {
                        times.drained.push(next.to.saturating_sub(from));
                    }
                }
                _ => {}
            }
        }
    }
    times.killed.sort_unstable();
    times.drained.sort_unstable();
}

/// How long it took until somebody went on with these executions since these times.
pub(crate) fn went_on_after<'a>(
    all: &Histories,
    events: impl Iterator<Item = (&'a str, u64)>,
) -> Vec<u64> {
    let after = events.filter_map(|(id, at)| {
        let tenures = &all.get(id)?.tenures;
        let next = tenures.iter().find(|tenure| tenure.to > at)?;
        Some(next.to - at)
    });
    let mut after: Vec<u64> = after.collect();
    after.sort_unstable();
    after
}
