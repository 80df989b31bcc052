use flow_loader::registry;
use flow_runtime::prelude::*;

struct Ask(String);

#[node(writes = answer)]
impl Ask {
    fn exec(&self, question: &str) -> String {
        format!("{}{question}", self.0)
    }
}

fn main() {
    let _ = registry![Ask]; //~
}
