use flow_runtime::prelude::*;

#[derive(Action)]
enum Verdict { Approved, Rejected }
#[node]
fn review(claim: &u64) -> Verdict { if *claim < 3 { Verdict::Approved } else { Verdict::Rejected } }

flow! {
    Expense(claim: u64) {
        start >> review;
        review - "approved" >> end; //~
        review - "rejected" >> end;
    }
}

fn main() {}
