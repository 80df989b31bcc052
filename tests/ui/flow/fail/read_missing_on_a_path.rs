use flow_runtime::prelude::*;

#[derive(Action)]
enum Verdict { Approved { amount: u64 }, Rejected }

#[node(actions = Verdict)]
fn review() -> Verdict { Verdict::Rejected }
#[node]
fn notify(amount: &u64) { let _ = amount; }

flow! {
    Approval() {
        start >> review;
        review - "approved" >> end;
        review - "rejected" >> notify >> end; //~
    }
}

fn main() {}
