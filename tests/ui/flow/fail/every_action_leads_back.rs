use flow_runtime::prelude::*;

#[derive(Action)]
enum Verdict { Approved, Rejected }

#[node(actions = Verdict)]
fn review() -> Verdict { Verdict::Approved }
#[node]
fn revise() {}

flow! {
    Approval() {
        start >> review; //~
        review - "approved" >> review;
        review - "rejected" >> revise >> review;
    }
}

fn main() {}
