// One end has no value: nothing was added on the way to it.
use flow_runtime::prelude::*;

#[derive(Action)]
enum Verdict { Approved, Rejected }
#[node(actions = Verdict)]
fn review(text: &str) -> Verdict { if text.is_empty() { Verdict::Rejected } else { Verdict::Approved } }
#[node(writes = +log)]
fn note() -> String { "rejected".to_owned() }

flow! {
    Review(text: String) -> (log: Vec<String>) {
        start >> review;
        review - "approved" >> end; //~
        review - "rejected" >> note >> end;
    }
}

fn main() {}
