// A type of another module says what is added to it.
#![deny(warnings)]
use flow_runtime::prelude::*;

pub mod usage {
    use flow_runtime::Accumulate;

    /// It is neither cloned nor printed.
    #[derive(Default)]
    pub struct Usage { pub calls: u64, pub tokens: u64 }
    pub struct Tokens(pub u64);

    impl Accumulate<Tokens> for Usage {
        fn add(&mut self, Tokens(tokens): Tokens) {
            self.calls += 1;
            self.tokens += tokens;
        }
    }
    impl Accumulate<Usage> for Usage {
        fn add(&mut self, other: Usage) {
            self.calls += other.calls;
            self.tokens += other.tokens;
        }
    }
}

#[node(writes(answer, +usage))]
fn ask(question: &str) -> (String, usage::Tokens) { (question.to_owned(), usage::Tokens(3)) }
#[node(writes = +usage)]
fn again() -> usage::Usage { usage::Usage::default() }
flow! {
    pub Chat(question: String) -> (answer: String, usage: usage::Usage) {
        start >> ask >> again >> end;
    }
}

fn main() {
    let _: fn(ChatOutput) -> u64 = |output| output.usage.calls + output.usage.tokens;
}
