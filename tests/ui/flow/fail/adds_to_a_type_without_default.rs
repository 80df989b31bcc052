// The first addition has nothing to begin with.
use flow_runtime::prelude::*;
use flow_runtime::Accumulate;

pub struct Usage { total: u64 }
impl Accumulate<u64> for Usage {
    fn add(&mut self, tokens: u64) { self.total += tokens; }
}

#[node(writes(answer, +usage))]
fn ask(question: &str) -> (String, u64) { (question.to_owned(), 3) }

flow! {
    Chat(question: String) -> (answer: String, usage: Usage) {
        start >> ask >> end; //~
    }
}

fn main() { let _ = |usage: Usage| usage.total; }
