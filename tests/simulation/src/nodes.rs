//! What the generated flows are made of. What a step does is decided by the case, the step's name
//! and what it reads.

use std::time::Duration;

use flow_loader::{Registry, registry};
use flow_runtime::prelude::*;
use serde::{Deserialize, Serialize};

use crate::ledger::{enter, take_back};
use crate::world::{act, pause, roll};

/// Where to go on.
#[derive(Debug, Clone, Serialize, Deserialize, Action)]
pub enum Choice {
    /// One way.
    Left,
    /// The other.
    Right,
}

/// Whether there is another round.
#[derive(Debug, Clone, Serialize, Deserialize, Action)]
pub enum Again {
    /// There is.
    Again,
    /// There is not.
    Done,
}

/// Goes one of two ways, and adds a number on one of them.
#[derive(Debug, Clone, Serialize, Deserialize, Action)]
pub enum Noted {
    /// The way with a number.
    Left {
        /// The number.
        #[action(add)]
        noted: u64,
    },
    /// The other.
    Right,
}

/// A number from a person.
#[node(human = "What for {a}?", writes = asked)]
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Ask {
    /// The number.
    pub value: u64,
}

/// A number from a person who has an hour to answer.
#[node(human = "What for {a}, soon?", writes = asked_soon, timeout = "1h")]
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct AskSoon {
    /// The number.
    pub value: u64,
}

/// A number that is sent.
#[node(signal)]
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Tell {
    /// The number.
    pub value: u64,
}

/// A number that is sent within an hour.
#[node(signal, timeout = "1h")]
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct TellSoon {
    /// The number.
    pub value: u64,
}

/// Says nothing, and ends races.
#[node(signal)]
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Poke;

/// All of them, for documents.
pub(crate) fn registered() -> Registry {
    registry![
        Ask,
        AskSoon,
        Poke,
        Tell,
        TellSoon,
        Saved = Saved,
        again,
        answered,
        book,
        decide,
        found,
        hangs,
        list,
        logged,
        noted,
        risky,
        risky_book,
        slow,
        sum,
        sum_results,
        take,
        take_log,
        take_soon,
        three,
        tried,
        tried_book,
        unbook,
        work,
        work2,
    ]
}

/// A new number made of others.
fn mixed(cx: &Context, reads: &[u64]) -> u64 {
    roll(cx, reads, "value") % 1_000_000
}

/// Whether an attempt fails, in so many of a hundred cases.
fn fails(cx: &Context, reads: &[u64], percent: u64) -> Result<(), String> {
    if roll(cx, reads, "fails") % 100 < percent {
        Err("it was decided so".to_owned())
    } else {
        Ok(())
    }
}

/// Never fails.
#[node(writes = w)]
pub async fn work(cx: &Context, a: &u64) -> u64 {
    act(cx, &[*a]).await;
    mixed(cx, &[*a])
}

/// Reads two numbers.
#[node(writes = w)]
pub async fn work2(cx: &Context, a: &u64, b: &u64) -> u64 {
    act(cx, &[*a, *b]).await;
    mixed(cx, &[*a, *b])
}

/// Never ends in some cases.
#[node(writes = w)]
pub async fn hangs(cx: &Context, a: &u64) -> u64 {
    act(cx, &[*a]).await;
    if roll(cx, &[*a], "hangs").is_multiple_of(3) {
        tokio::time::sleep(Duration::from_secs(1_000_000)).await;
    }
    mixed(cx, &[*a])
}

/// Fails in some cases.
#[node(writes = w)]
pub async fn risky(cx: &Context, a: &u64) -> Result<u64, String> {
    act(cx, &[*a]).await;
    fails(cx, &[*a], 30)?;
    Ok(mixed(cx, &[*a]))
}

/// Is tried again, after a pause in which nobody has the execution.
#[node(writes = w, retry(attempts = 3, wait = "6s"))]
pub async fn tried(cx: &Context, a: &u64) -> Result<u64, String> {
    act(cx, &[*a]).await;
    fails(cx, &[*a], 40)?;
    Ok(mixed(cx, &[*a]))
}

/// Takes too long in some cases.
#[node(writes = w, timeout = "1m", retry(attempts = 2))]
pub async fn slow(cx: &Context, a: &u64) -> Result<u64, String> {
    act(cx, &[*a]).await;
    if roll(cx, &[*a], "slow").is_multiple_of(3) {
        tokio::time::sleep(Duration::from_secs(1_000_000)).await;
    }
    Ok(mixed(cx, &[*a]))
}

/// Has a fallback.
#[derive(Debug, Clone, Copy, Default)]
pub struct Saved;

#[node(writes = w, retry(attempts = 2))]
impl Saved {
    async fn exec(&self, cx: &Context, a: &u64) -> Result<u64, String> {
        act(cx, &[*a]).await;
        fails(cx, &[*a], 50)?;
        Ok(mixed(cx, &[*a]))
    }

    fn exec_fallback(&self, a: &u64, error: &NodeError) -> u64 {
        a + u64::from(error.attempts())
    }
}

/// Asks until there is an answer, or gives up.
#[node(writes = w, poll(every = "6s", timeout = "30s"))]
pub async fn found(cx: &Context, a: &u64) -> Option<u64> {
    act(cx, &[*a]).await;
    (!roll(cx, &[*a], "found").is_multiple_of(3)).then(|| mixed(cx, &[*a]))
}

/// Goes one of two ways.
#[node(actions = Choice)]
pub async fn decide(cx: &Context, a: &u64) -> Choice {
    act(cx, &[*a]).await;
    match roll(cx, &[*a], "side") % 2 {
        0 => Choice::Left,
        _ => Choice::Right,
    }
}

/// Goes on after at most three rounds.
#[node(actions = Again)]
pub async fn again(cx: &Context, a: &u64) -> Again {
    act(cx, &[*a]).await;
    let step = cx.step_id();
    let visit = step
        .rsplit_once('#')
        .and_then(|(_, visit)| visit.parse().ok());
    match roll(cx, &[*a], "again") % 2 {
        0 if visit.unwrap_or(1) < 3 => Again::Again,
        _ => Again::Done,
    }
}

/// Up to four numbers.
#[node]
pub async fn list(cx: &Context, a: &u64) -> Vec<u64> {
    act(cx, &[*a]).await;
    let count = roll(cx, &[*a], "count") % 5;
    (0..count).map(|index| a % 1000 * 10 + index).collect()
}

/// Always three numbers.
#[node(writes = list)]
pub async fn three(cx: &Context, a: &u64) -> Vec<u64> {
    act(cx, &[*a]).await;
    (0..3).map(|index| a % 1000 * 10 + index).collect()
}

/// Enters a number in the ledger.
#[node(writes = w)]
pub async fn book(cx: &Context, a: &u64) -> u64 {
    act(cx, &[*a]).await;
    booked(cx, *a).await
}

/// Enters a number, or fails and enters none.
#[node(writes = w)]
pub async fn risky_book(cx: &Context, a: &u64) -> Result<u64, String> {
    act(cx, &[*a]).await;
    fails(cx, &[*a], 20)?;
    Ok(booked(cx, *a).await)
}

/// The same, and is tried again.
#[node(writes = w, retry(attempts = 3, wait = "6s"))]
pub async fn tried_book(cx: &Context, a: &u64) -> Result<u64, String> {
    act(cx, &[*a]).await;
    fails(cx, &[*a], 40)?;
    Ok(booked(cx, *a).await)
}

/// Enters a number, and takes some more time.
async fn booked(cx: &Context, a: u64) -> u64 {
    let value = mixed(cx, &[a]);
    enter(cx, value);
    pause(cx, &[a], "time after").await;
    value
}

/// Takes a number back. It is tried again at once, and then somebody has to see to it.
#[node(retry(attempts = 2))]
pub async fn unbook(cx: &Context, w: &u64) -> Result<(), String> {
    act(cx, &[*w]).await;
    take_back(cx, *w)?;
    pause(cx, &[*w], "time after").await;
    Ok(())
}

/// One number of many.
#[node(writes = w)]
pub async fn sum(cx: &Context, items: &[u64]) -> u64 {
    act(cx, items).await;
    mixed(cx, items)
}

/// One number of many, those that failed left out.
#[node(writes = w)]
pub async fn sum_results(cx: &Context, items: &[Result<u64, NodeError>]) -> u64 {
    let items: Vec<u64> = items
        .iter()
        .map(|item| item.as_ref().map_or(7, |number| *number))
        .collect();
    act(cx, &items).await;
    mixed(cx, &items)
}

/// The number of an answer.
#[node(writes = w)]
pub async fn take(cx: &Context, asked: &Ask) -> u64 {
    act(cx, &[asked.value]).await;
    asked.value
}

/// The number of an answer that came in time.
#[node(writes = w)]
pub async fn take_soon(cx: &Context, asked_soon: &AskSoon) -> u64 {
    act(cx, &[asked_soon.value]).await;
    asked_soon.value
}

/// Adds a number on one of two ways.
#[node(actions = Noted)]
pub async fn noted(cx: &Context, a: &u64) -> Noted {
    act(cx, &[*a]).await;
    match roll(cx, &[*a], "side") % 2 {
        0 => Noted::Left {
            noted: mixed(cx, &[*a]),
        },
        _ => Noted::Right,
    }
}

/// Reads all that was added.
#[node(writes = w)]
pub async fn logged(cx: &Context, a: &u64, log: &[u64], total: &u64) -> u64 {
    let reads: Vec<u64> = [a, total].into_iter().chain(log).copied().collect();
    act(cx, &reads).await;
    mixed(cx, &reads)
}

/// Takes the numbers that were added, which others still add to.
#[node(writes = w)]
pub async fn take_log(cx: &Context, log: Vec<u64>) -> u64 {
    act(cx, &log).await;
    mixed(cx, &log)
}

/// Reads all answers.
#[node(writes = w)]
pub async fn answered(cx: &Context, answers: &[Ask]) -> u64 {
    let reads: Vec<u64> = answers.iter().map(|answer| answer.value).collect();
    act(cx, &reads).await;
    mixed(cx, &reads)
}
