use flow_runtime::prelude::*;

#[derive(Action)]
enum Verdict { Approved { detail: u64 }, Rejected { detail: String } }

#[node(actions = Verdict)]
fn review() -> Verdict {
    Verdict::Approved { detail: 3 }
}

flow! {
    Approval() {
        start >> review; //~
        review - "approved" >> end; review - "rejected" >> end;
    }
}

fn main() {}
