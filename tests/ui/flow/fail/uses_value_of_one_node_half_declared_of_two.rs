use flow_runtime::prelude::*;

struct Ask;
#[node(writes = answer)]
impl Ask { fn exec(&self) -> String { String::new() } }

flow! {
    Qa() -> (answer: String) {
        node ask: Ask;
        node again Ask; //~
        start >> ask >> again >> end;
    }
}

fn main() {
    let _ = Qa::builder().ask(Ask).again(Ask).build();
}
