use flow_loader::registry;
use flow_runtime::prelude::*;

struct Ask;

#[node]
impl Ask {
    fn exec(&self, question: &str) -> usize {
        question.len()
    }
}

fn main() {
    let _ = registry![Ask = ]; //~
}
