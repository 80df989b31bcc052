use flow_loader::registry;
use flow_runtime::prelude::*;

struct Ask(u64);

#[node]
impl Ask {
    fn exec(&self, question: &str) -> u64 {
        question.len() as u64 + self.0
    }
}

fn main() {
    let _ = registry![Ask]; //~
}
