#![deny(warnings)]
use flow_runtime::prelude::*;

trait Model: Send + Sync { fn ask(&self, question: &str) -> String; }
struct Echo;
impl Model for Echo { fn ask(&self, question: &str) -> String { question.into() } }
struct Ask<M>(M);
#[node(writes = answer)]
impl<M: Model> Ask<M> {
    fn exec(&self, question: &str) -> String { self.0.ask(question) }
}
flow! {
    Asking(question: String) -> (answer: String) {
        node ask: Ask<Echo> = Ask(Echo);
        start >> ask >> end;
    }
}

fn main() {}
