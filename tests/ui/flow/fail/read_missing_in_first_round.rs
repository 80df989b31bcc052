use flow_runtime::prelude::*;

#[derive(Action)]
enum Verdict { Good, Bad { feedback: String } }
#[node]
fn draft(feedback: &str) -> String { feedback.into() }
#[node(actions = Verdict)]
fn review(draft: &str) -> Verdict {
    Verdict::Bad { feedback: draft.into() }
}
flow! {
    Book() {
        start >> draft >> review; //~
        review - "bad" >> draft; review - "good" >> end;
    }
}

fn main() {}
