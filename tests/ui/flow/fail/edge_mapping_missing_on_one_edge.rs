use flow_runtime::prelude::*;

#[derive(Action)]
enum Verdict { Approved { sum: u64 }, Rejected }
#[node(actions = Verdict)]
fn review() -> Verdict { Verdict::Approved { sum: 1 } }
#[node]
fn pay(amount: &u64) { let _ = amount; }

flow! {
    Payment() {
        start >> review;
        review - "approved" >> pay { amount <- sum } >> end;
        review - "rejected" >> pay; //~
    }
}

fn main() {}
