#![deny(warnings)]
use flow_runtime::prelude::*;

#[derive(Action)]
enum Verdict { Approved { detail: String }, Rejected { detail: String } }
#[node(actions = Verdict)]
fn review() -> Verdict { Verdict::Rejected { detail: "no".into() } }
#[node]
fn notify(detail: &str) -> usize { detail.len() }
flow! {
    Approval() -> (notify: usize) {
        start >> review;
        review - "approved" >> notify >> end;
        review - "rejected" >> notify;
    }
}

fn main() {}
