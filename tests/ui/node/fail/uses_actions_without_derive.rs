use flow_runtime::prelude::*;

enum Verdict { Good, Bad { reason: String } }

#[node(actions = Verdict)] //~ //~
fn review(text: &str) -> Verdict {
    if text.is_empty() { Verdict::Bad { reason: text.to_owned() } } else { Verdict::Good }
}

flow! {
    Review(text: String) -> (reason: Option<String>) {
        start >> review - "good" >> end; //~
        review - "bad" >> end("bad");
    }
}

fn main() { let _ = Review::new().run(ReviewInput { text: String::new() }); }
