// A type of the user does not say what is added to it.
use flow_runtime::prelude::*;

pub struct Tokens(u64);
#[derive(Default)]
pub struct Usage { total: u64 }

#[node(writes(answer, +usage))]
fn ask(question: &str) -> (String, Tokens) { (question.to_owned(), Tokens(3)) }

flow! {
    Chat(question: String) -> (answer: String, usage: Usage) {
        start >> ask >> end; //~
    }
}

fn main() {
    let _ = |usage: Usage, tokens: Tokens| usage.total + tokens.0;
}
