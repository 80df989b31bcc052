use flow_runtime::{flow, node};

#[derive(Action)] //~
enum Verdict { Good, Bad }

#[node(actions = Verdict)] //~ //~
fn review(text: &str) -> Verdict { if text.is_empty() { Verdict::Bad } else { Verdict::Good } }

flow! {
    Review(text: String) {
        start >> review - "good" >> end; //~
        review - "bad" >> end("bad");
    }
}

fn main() { let _ = Review::new(); }
