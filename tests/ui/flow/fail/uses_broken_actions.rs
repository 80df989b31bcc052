use flow_runtime::prelude::*;

#[derive(Action)]
enum Verdict { Approved(u64), Rejected } //~
#[node(actions = Verdict)]
fn review() -> Verdict { Verdict::Rejected }
#[node]
fn pay(amount: &u64) { let _ = amount; }
flow! {
    Approval() {
        start >> review;
        review - "approved" >> pay >> end;
        review - "rejected" >> end("rejected");
    }
}

fn main() {}
