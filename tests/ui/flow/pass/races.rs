//! Races, and nodes with their name.

use flow_runtime::prelude::*;

#[derive(Action)]
enum Verdict {
    Approved { amount: u64 },
    Rejected,
}

#[node(actions = Verdict)]
async fn review(claim: &u64) -> Verdict {
    if *claim < 10 { Verdict::Approved { amount: *claim } } else { Verdict::Rejected }
}

#[node]
fn first(claim: &u64) -> u64 {
    *claim
}

#[node(writes = claim)]
async fn ask() -> Result<u64, String> {
    Err("nobody".into())
}

#[node(writes = claim)]
fn guess(error: &NodeError) -> u64 {
    error.to_string().len() as u64
}

flow! {
    Races(claim: u64) -> (first: Option<u64>, amount: Option<u64>) {
        // A mapping of a node that is called `first`.
        node number: first { claim <- claim };
        node asked: first { ask, wait(5s) => "late" };
        node outcome: first {
            // Its actions are those of the race.
            review,
            wait(1h) >> wait(1s) => "late",
        };

        start >> number >> asked >> outcome;
        asked - "late"  >> end("late");
        asked - "error" >> guess >> outcome;
        outcome - "approved" >> end;
        outcome - "rejected" >> end("rejected");
        outcome - "late"     >> end("late");
    }
}

fn main() {
    let _: fn(RacesOutput) -> u64 = |output| match output.into_outcome() {
        RacesOutcome::Default { first, amount } => first + amount,
        RacesOutcome::Rejected { first } => first,
        RacesOutcome::Late { first } => first,
    };
}
