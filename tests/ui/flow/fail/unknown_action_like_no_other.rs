use flow_runtime::prelude::*;

#[derive(Action)]
enum Verdict { Approved, Rejected }

#[node(actions = Verdict)]
fn review() -> Verdict {
    Verdict::Approved
}

flow! {
    Approval() {
        start >> review;
        review - "approved" >> end; review - "rejected" >> end("rejected");
        review - "escalate" >> end("escalated"); //~
    }
}

fn main() {}
