use flow_runtime::prelude::*;

struct Ask;

#[node(writes = answer)]
impl Ask {
    async fn run(&self, question: &str) -> String { question.to_owned() } //~
}

fn main() {}
