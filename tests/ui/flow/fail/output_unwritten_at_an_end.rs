use flow_runtime::prelude::*;

#[derive(Action)]
enum Verdict { Approved { amount: u64 }, Rejected }

#[node(actions = Verdict)]
fn review() -> Verdict {
    Verdict::Rejected
}

flow! {
    Approval() -> (amount: u64) {
        start >> review;
        review - "approved" >> end;
        review - "rejected" >> end("rejected"); //~
    }
}

fn main() {}
