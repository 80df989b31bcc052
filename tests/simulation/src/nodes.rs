//! The nodes of all flows. What they do is decided when they do it: see [`act`](crate::world::act).

use flow_runtime::prelude::*;
use serde::{Deserialize, Serialize};

use crate::world::{Deed, act, hash_of, text_hash};

#[node(writes = out)]
pub(crate) async fn work(cx: &Context, a: &u64) -> u64 {
    act(cx, &[*a], Deed::SUCCEEDS).await.value
}

#[node(writes = out)]
pub(crate) async fn both(cx: &Context, a: &u64, b: &u64) -> u64 {
    act(cx, &[*a, *b], Deed::SUCCEEDS).await.value
}

/// Takes no time, and never waits.
#[node(writes = out)]
pub(crate) fn quick(cx: &Context, a: &u64) -> u64 {
    crate::world::at_once(cx, &[*a]).value
}

#[node(writes = out)]
pub(crate) async fn take(cx: &Context, a: u64) -> u64 {
    act(cx, &[a], Deed::SUCCEEDS).await.value
}

#[node(writes = out)]
pub(crate) async fn tries(cx: &Context, a: &u64) -> Result<u64, String> {
    act(cx, &[*a], Deed::FAILS).await.result()
}

/// Takes for ever at times. It stands where something has a timeout.
#[node(writes = out)]
pub(crate) async fn hangs(cx: &Context, a: &u64) -> Result<u64, String> {
    act(cx, &[*a], Deed::HANGS).await.result()
}

#[node(writes = out, retry(attempts = 2, wait = "10ms"))]
pub(crate) async fn takes_again(cx: &Context, a: u64) -> Result<u64, String> {
    act(cx, &[a], Deed::FAILS).await.result()
}

/// Has all the methods of a node.
#[derive(Default)]
pub(crate) struct Falls;

#[node(writes = out, retry(attempts = 2))]
impl Falls {
    fn prep(&self, a: &u64) -> u64 {
        *a
    }

    async fn exec(&self, cx: &Context, prep_res: &u64) -> Result<u64, String> {
        act(cx, &[*prep_res], Deed::FAILS).await.result()
    }

    async fn exec_fallback(
        &self,
        cx: &Context,
        prep_res: &u64,
        error: &NodeError,
    ) -> Result<u64, String> {
        let reads = [*prep_res, text_hash(&format!("{error:#}"))];
        match hash_of(&reads) % 3 {
            0 => Err(format!("no fallback for {}", reads[0])),
            _ => Ok(hash_of(&[
                text_hash(&cx.step_id().unwrap_or_default()[36..]),
                reads[1],
            ])),
        }
    }

    fn post(&self, exec_res: &u64) -> u64 {
        exec_res.wrapping_add(1) % 1_000_000
    }
}

#[node(writes = list)]
pub(crate) async fn list(cx: &Context, a: &u64) -> Vec<u64> {
    let value = act(cx, &[*a], Deed::SUCCEEDS).await.value;
    (0..value % 5)
        .map(|index| hash_of(&[value, index]) % 1_000_000)
        .collect()
}

#[node(writes = out)]
pub(crate) async fn gather(cx: &Context, list: &[u64]) -> u64 {
    act(cx, list, Deed::SUCCEEDS).await.value
}

#[node(writes = out)]
pub(crate) async fn gather_results(cx: &Context, list: &[Result<u64, NodeError>]) -> u64 {
    let one = |result: &Result<u64, NodeError>| match result {
        Ok(value) => *value,
        Err(error) => text_hash(&format!("{error:#}")),
    };
    let read: Vec<u64> = list.iter().map(one).collect();
    act(cx, &read, Deed::SUCCEEDS).await.value
}

#[node(writes = out)]
pub(crate) async fn gather_told(cx: &Context, list: &[Told]) -> u64 {
    let read: Vec<u64> = list.iter().map(|told| told.value).collect();
    act(cx, &read, Deed::SUCCEEDS).await.value
}

#[node(writes = out)]
pub(crate) async fn mend(cx: &Context, error: &NodeError) -> u64 {
    act(cx, &[text_hash(&format!("{error:#}"))], Deed::SUCCEEDS)
        .await
        .value
}

#[derive(Debug, Serialize, Deserialize, Action)]
pub(crate) enum Choice {
    Left { left: u64 },
    Right,
}

fn choice(value: u64) -> Choice {
    match value % 2 {
        0 => Choice::Left { left: value },
        _ => Choice::Right,
    }
}

#[node(actions = Choice)]
pub(crate) async fn decide(cx: &Context, a: &u64) -> Choice {
    choice(act(cx, &[*a], Deed::SUCCEEDS).await.value)
}

#[node(actions = Choice)]
pub(crate) async fn try_decide(cx: &Context, a: &u64) -> Result<Choice, String> {
    act(cx, &[*a], Deed::FAILS).await.result().map(choice)
}

#[derive(Debug, Serialize, Deserialize, Action)]
pub(crate) enum Again {
    Again,
    Done,
}

/// The end of a round. There are three of them at most.
#[node(writes = out, actions = Again)]
pub(crate) async fn again(cx: &Context, a: &u64) -> (u64, Again) {
    let value = act(cx, &[*a], Deed::SUCCEEDS).await.value;
    let step = cx.step_id().unwrap_or_default();
    let last = step.rsplit('.').next().unwrap_or_default();
    let round = last.rsplit_once('#').map_or("1", |(_, round)| round);
    match round.parse::<u64>() {
        Ok(1 | 2) if value % 3 > 0 => (value, Again::Again),
        _ => (value, Again::Done),
    }
}

#[node(poll(every = "5s", timeout = "5m"), writes = out)]
pub(crate) async fn ready(cx: &Context, a: &u64) -> Option<u64> {
    act(cx, &[*a], Deed::POLLS).await.polled()
}

#[node(poll(every = "2s"), writes = out)]
pub(crate) async fn soon(cx: &Context, a: &u64) -> Option<u64> {
    act(cx, &[*a], Deed::POLLS_UNTIL_READY).await.polled()
}

/// Somebody tells something, sooner or later.
#[node(human = "tell {a}", writes = told)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Told {
    pub(crate) value: u64,
}

/// Somebody tells something, or not. It stands where something has a timeout.
#[node(human = "perhaps tell {a}", writes = told)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Maybe {
    pub(crate) value: u64,
}

#[node(writes = out)]
pub(crate) async fn hear(cx: &Context, told: &Told) -> u64 {
    act(cx, &[told.value], Deed::SUCCEEDS).await.value
}

#[node(writes = out)]
pub(crate) async fn hear_maybe(cx: &Context, told: &Maybe) -> u64 {
    act(cx, &[told.value], Deed::SUCCEEDS).await.value
}

/// Somebody decides, sooner or later.
#[node(human = "vote on {a}")]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) enum Vote {
    Yes { vote: u64 },
    No,
}

/// Somebody decides, or not.
#[node(human = "perhaps vote on {a}")]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) enum MaybeVote {
    Yes { vote: u64 },
    No,
}
