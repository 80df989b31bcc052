use flow_runtime::prelude::*;

#[derive(Action)]
enum Verdict { Approved, Rejected, Unclear }
#[node(actions = Verdict)]
fn review() -> Verdict { Verdict::Approved }
#[node]
fn pay() {}
flow! {
    Approval() {
        start >> review; //~
        review - "aproved" >> pay >> end; //~
        review - "rejected" >> end("rejected");
        review - "rejected" >> end; //~
    }
}

fn main() {}
