#![deny(warnings)]
use flow_runtime::prelude::*;
#[derive(Action)]
enum Verdict { Good, Bad { feedback: String } }
#[node]
fn draft() -> String { "draft".into() }
#[node(actions = Verdict)]
fn review(draft: &str) -> Verdict { Verdict::Bad { feedback: draft.into() } }
#[node(writes = draft)]
fn revise(draft: &str, feedback: &str) -> String { format!("{draft}{feedback}") }
flow! {
    Book() -> (draft: String) {
        start >> draft >> review;
        review - "bad" >> revise >> review;
        review - "good" >> end;
    }
}
fn main() {}
