// CF-01, PF-05, PF-06
use flow_runtime::prelude::*;

#[derive(Action)]
enum Verdict { Approved, Rejected }

#[node(actions = Verdict)]
fn review() -> Verdict {
    Verdict::Approved
}

flow! {
    Approval() {
        start >> review; //~
        review - "approved" >> end;
    }
}

fn main() {}
