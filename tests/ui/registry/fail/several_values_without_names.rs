use flow_loader::registry;
use flow_runtime::prelude::*;

struct Ask(&'static str);

#[node]
impl Ask {
    fn exec(&self, question: &str) -> String { format!("{question} {}", self.0) }
}

fn main() {
    registry![Ask("Yes.")]; //~
    registry![Ask { 0: "No." }]; //~
    registry![Ask::new("Yes.")]; //~
}
