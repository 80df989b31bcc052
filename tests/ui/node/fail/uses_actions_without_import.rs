use flow_runtime::{FlowError, flow, node};

#[derive(Action)] //~
enum Verdict { Good, Bad }

#[node(actions = Verdict)] //~
fn review(text: &str) -> Verdict { if text.is_empty() { Verdict::Bad } else { Verdict::Good } }

flow! {
    Review(text: String) {
        start >> review - "good" >> end;
        review - "bad" >> end("bad");
    }
}

async fn run() -> Result<ReviewOutput, FlowError> { Review::new().run(ReviewInput { text: "a".into() }).await }

fn main() { let _ = run(); }
