use flow_runtime::prelude::*;

#[derive(Action)]
enum Verdict { Approved { amount: u64 }, Rejected }
#[node(actions = Verdict)]
fn review() -> Verdict { Verdict::Rejected }
#[node(writes = amount)]
fn estimate() -> String { String::new() }

flow! {
    Approval() {
        start >> review;
        review - "approved" >> end;
        review - "rejected" >> estimate >> end; //~
    }
}

fn main() {}
