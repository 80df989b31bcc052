use flow_runtime::prelude::*;

#[derive(Action)]
enum Verdict { Yes, No }

#[node(actions = Verdict)]
fn review() -> Option<Verdict> { Some(Verdict::Yes) } //~

flow! {
    Approval() {
        start >> review;
        review - "yes" >> end;
        review - "no" >> end("no");
    }
}

fn main() {}
