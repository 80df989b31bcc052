#![deny(warnings)]
use flow_runtime::prelude::*;

#[derive(Action)]
enum Verdict { Good, Bad { feedback: String } }
#[node]
fn draft(feedback: Option<&str>) -> String { feedback.unwrap_or("first").into() }
#[node(actions = Verdict)]
fn review(draft: &str) -> Verdict { Verdict::Bad { feedback: draft.into() } }
flow! {
    Book() -> (draft: String) {
        start >> draft >> review;
        review - "bad" >> draft;
        review - "good" >> end;
    }
}

fn main() {}
