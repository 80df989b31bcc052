use flow_runtime::prelude::*;

#[derive(Action)]
enum Verdict { Approved { sum: u64 }, Rejected }
#[node(actions = Verdict)]
fn review() -> Verdict { Verdict::Approved { sum: 1 } }

flow! {
    Payment() -> (amount: u64) {
        start >> review;
        review - "approved" >> end { amount <- sum };
        review - "rejected" >> end("rejected"); //~
    }
}

fn main() {}
