//! What workers take out of the queue.

use std::io;

use flow_runtime::prelude::*;
use serde::{Deserialize, Serialize};

use crate::{Survivor, effect};

/// How many executions a worker of the tests runs at once.
pub const AT_ONCE: usize = 3;

/// How many of them may be an [`Errand`].
pub const ERRANDS_AT_ONCE: usize = 1;

flow! {
    /// The flow of rounds with loops over items, forks and questions, after a while.
    pub Job(rounds: u64, round: u64, total: u64) -> (total: u64, round: u64) {
        node survivor: Survivor = Survivor::new();
        start >> wait(10ms) >> survivor >> end;
        survivor - "stopped" >> end("stopped");
    }
}

/// A question that nobody answers.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[node(human = "Is there anybody?", writes = anybody)]
pub struct Anybody {
    /// Who is there.
    pub name: String,
}

#[node(writes = number)]
async fn fetch(cx: &Context, number: &u64) -> io::Result<u64> {
    effect(cx).await?;
    Ok(number + 1)
}

#[node(writes = number)]
async fn bring(cx: &Context, number: &u64) -> io::Result<u64> {
    effect(cx).await?;
    Ok(number * 2)
}

flow! {
    /// Waits beside a step, then asks somebody who does not answer in time, which pauses it.
    pub Errand(number: u64) -> (number: u64) {
        node anybody: human Anybody with timeout = "60ms";
        start >> [fetch, wait(10ms)] >> anybody >> end("answered");
        anybody - "timeout" >> bring >> end;
    }
}

#[node]
async fn after(cx: &Context, number: &u64) -> io::Result<u64> {
    effect(cx).await?;
    Ok(number + 1)
}

flow! {
    /// A loop whose parts any worker runs.
    pub Batch(numbers: Vec<u64>) -> (all: Vec<u64>) {
        node all: for number in numbers { after } with concurrency(2), spread(3);
        start >> all >> end;
    }
}
