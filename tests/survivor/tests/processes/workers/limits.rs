//! What has to be true of the limits and of the order of the queue.

use std::collections::BTreeMap;

use flow_survivor::job::{AT_ONCE, ERRANDS_AT_ONCE};

use super::claims::Histories;
use super::lives::{Life, Taking};

/// An execution as it was started.
#[derive(Debug, Clone)]
pub(crate) struct Given {
    pub(crate) id: String,
    pub(crate) flow: &'static str,
    pub(crate) priority: i32,
    pub(crate) not_before_ms: u64,
    pub(crate) key: Option<String>,
    /// When it was known to be stored, in microseconds.
    pub(crate) stored_us: u64,
}

/// How many executions with the same key may be under way at once.
pub(crate) const KEY_AT_MOST: usize = 2;

/// How many of these spans share a moment, at most.
fn most_at_once(spans: &[(u64, u64)]) -> usize {
    let mut changes: Vec<(u64, bool)> = Vec::new();
    for (from, to) in spans.iter().filter(|(from, to)| from < to) {
        changes.extend([(*from, true), (*to, false)]);
    }
    // At the same time, ends come first.
    changes.sort_unstable();
    let (mut now, mut most) = (0, 0);
    for (_, begins) in changes {
        now = if begins { now + 1 } else { now - 1 };
        most = most.max(now);
    }
    most
}

/// No process has more executions than it may, in all and of a flow; no key has more under way.
/// The times are within those of the claims, so nothing is counted that was not so.
pub(crate) fn judge_limits(
    all: &Histories,
    lives: &[Life],
    given: &[Given],
    wrong: &mut Vec<String>,
) {
    let by_id: BTreeMap<&str, &Given> = given.iter().map(|it| (&*it.id, it)).collect();
    let mut keys: BTreeMap<&str, Vec<(u64, u64)>> = BTreeMap::new();
    let mut of_lives: BTreeMap<(usize, &str), Vec<(u64, u64)>> = BTreeMap::new();
    for (id, history) in all {
        let given = by_id.get(&**id);
        if given.is_none() && !is_part(id) {
            wrong.push(format!("nobody started {id}"));
            continue;
        }
        let flow = given.map_or("Batch.all", |given| given.flow);
        for tenure in &history.tenures {
            let end = lives[tenure.life].end_us();
            let next = history.after(tenure).map(|next| next.from);
            let released = tenure.released.map(|(from, _)| from);
            let end = [Some(end), next, released].into_iter().flatten().min();
            let span = (tenure.to, end.unwrap_or(tenure.to));
            // Whoever ends the last part claims the batch for a moment, to say that it can go on, also
            // if it has no place for it.
            let all = (flow != "Batch").then_some("");
            for what in all.into_iter().chain([flow]) {
                of_lives.entry((tenure.life, what)).or_default().push(span);
            }
        }
        let first = history.tenures.first().map(|tenure| tenure.to);
        let key = given.and_then(|given| given.key.as_deref());
        if let (Some(key), Some(from), Some((to, _))) = (key, first, history.completed()) {
            keys.entry(key).or_default().push((from, to));
        }
    }
    for ((life, flow), spans) in of_lives {
        let limit = match flow {
            "" => AT_ONCE,
            "Errand" => ERRANDS_AT_ONCE,
            _ => continue,
        };
        let most = most_at_once(&spans);
        if most > limit {
            let who = &lives[life].name;
            wrong.push(format!(
                "{who} had {most} {flow} at once, and may have {limit}"
            ));
        }
    }
    for (key, spans) in keys {
        let most = most_at_once(&spans);
        if most > KEY_AT_MOST {
            wrong.push(format!("{key} had {most} under way at once"));
        }
    }
}

/// Nothing is taken while something waits that comes before it and could have been taken.
pub(crate) fn judge_order(
    all: &Histories,
    lives: &[Life],
    given: &[Given],
    wrong: &mut Vec<String>,
) {
    let by_id: BTreeMap<&str, &Given> = given.iter().map(|it| (&*it.id, it)).collect();
    for life in lives {
        for taking in &life.notes.takes {
            for (index, had) in taking.had.iter().enumerate() {
                let Some(taken) = by_id.get(&*had.id) else {
                    continue;
                };
                if taken.not_before_ms > taking.to / 1000 {
                    wrong.push(format!("{} took {} too early", life.name, had.id));
                }
                let later = given.iter().filter(|other| {
                    comes_before(other, taken) && could_be_taken(other, taking, all, given)
                });
                for other in later {
                    // What the same call took is in its order.
                    let before = &taking.had[..index];
                    if before.iter().any(|had| had.id == other.id) {
                        continue;
                    }
                    let (id, priority) = (&other.id, other.priority);
                    wrong.push(format!(
                        "{} took {} ({}) before {id} ({priority})",
                        life.name, had.id, taken.priority
                    ));
                }
            }
        }
    }
}

fn comes_before(one: &Given, other: &Given) -> bool {
    (-one.priority, &one.id) < (-other.priority, &other.id)
}

/// Whether nothing kept a call from taking this one.
fn could_be_taken(waiting: &Given, taking: &Taking, all: &Histories, given: &[Given]) -> bool {
    let taken_by_it = taking.had.iter().any(|had| had.id == waiting.id);
    let is_there = waiting.stored_us < taking.from && waiting.not_before_ms <= taking.now_ms;
    let taken = all.get(&waiting.id).and_then(|history| history.taken());
    // If nobody has noted who took it, it is not known when that was.
    let still_waits = taken_by_it || taken.is_some_and(|(from, _)| from > taking.to);
    if !is_there || !still_waits {
        return false;
    }
    if taken_by_it {
        return true;
    }
    let flow_of = |id: &str| given.iter().find(|it| it.id == id).map(|it| it.flow);
    let of_flow = taking
        .had
        .iter()
        .filter(|had| flow_of(&had.id) == Some(waiting.flow));
    let places = taking.flows.get(waiting.flow).copied().unwrap_or(0);
    if of_flow.count() as u64 >= places {
        return false;
    }
    let Some(key) = &waiting.key else {
        return true;
    };
    let is_under_way = |it: &&Given| {
        if it.key.as_ref() != Some(key) {
            return false;
        }
        let Some(history) = all.get(&it.id) else {
            return false;
        };
        let first = history
            .tenures
            .first()
            .map(|tenure| (tenure.from, tenure.is_taken));
        // Who took it may have died before that was noted.
        let begins = match first {
            Some((from, true)) => from,
            _ => 0,
        };
        let ends = history.completed().and_then(|(_, to)| to);
        begins <= taking.to && ends.is_none_or(|to| to >= taking.from)
    };
    given.iter().filter(is_under_way).count() < KEY_AT_MOST
}

/// How long each waited in the queue, since it could begin, in microseconds, by priority.
pub(crate) fn waits(all: &Histories, given: &[Given]) -> BTreeMap<i32, Vec<u64>> {
    let mut waits: BTreeMap<i32, Vec<u64>> = BTreeMap::new();
    for it in given {
        if let Some((_, taken)) = all.get(&it.id).and_then(|history| history.taken()) {
            let since = it.stored_us.max(it.not_before_ms * 1000);
            let waited = taken.saturating_sub(since);
            waits.entry(it.priority).or_default().push(waited);
        }
    }
    for waits in waits.values_mut() {
        waits.sort_unstable();
    }
    waits
}

/// Whether an execution is a part of a loop, as its id says.
fn is_part(id: &str) -> bool {
    id.as_bytes().get(14) == Some(&b'8')
}
