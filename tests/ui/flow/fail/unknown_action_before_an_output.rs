use flow_runtime::prelude::*;

#[derive(Action)]
enum Verdict { Approved { amount: u64 }, Rejected { amount: u64 } }

#[node(actions = Verdict)]
fn review() -> Verdict { Verdict::Approved { amount: 3 } }

flow! {
    Approval() -> (amount: u64) {
        start >> review;
        review - "approved" >> end;
        review - "refused" >> end("no"); //~
        review - "rejected" >> end("no");
    }
}

fn main() {}
