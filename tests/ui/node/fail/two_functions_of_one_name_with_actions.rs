use flow_runtime::prelude::*;

#[derive(Action)]
enum Verdict { Approved { amount: u64 } }

#[node(actions = Verdict)]
fn review(claim: &u64) -> Verdict { Verdict::Approved { amount: *claim } }

#[node(actions = Verdict)]
fn review(claim: &u64) -> Verdict { Verdict::Approved { amount: claim + 1 } } //~

flow! {
    Approval(claim: u64) -> (amount: u64) {
        start >> review;
        review - "approved" >> end;
    }
}

fn main() {}
