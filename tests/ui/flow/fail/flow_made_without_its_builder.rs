use flow_runtime::prelude::*;

struct Ask;
#[node(writes = answer)]
impl Ask { fn exec(&self) -> String { String::new() } }

flow! {
    Qa() -> (answer: String) {
        node ask: Ask;
        start >> ask >> end;
    }
}

fn main() {
    let _ = Qa { ask: Ask }; //~
}
