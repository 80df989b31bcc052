#![deny(warnings)]
use flow_runtime::prelude::*;
struct Draft(String);
#[derive(Action)]
enum Verdict { Good, Bad }
#[node]
fn draft() -> Draft { Draft(String::new()) }
#[node(actions = Verdict)]
fn review(draft: &Draft) -> Verdict { if draft.0.len() > 3 { Verdict::Good } else { Verdict::Bad } }
#[node(writes = draft)]
fn extend(draft: Draft) -> Draft { Draft(draft.0 + "x") }
flow! {
    Book() {
        start >> draft >> review;
        review - "bad" >> extend >> review;
        review - "good" >> end;
    }
}
fn main() {}
