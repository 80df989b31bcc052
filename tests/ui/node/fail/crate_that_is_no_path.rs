use flow_runtime::prelude::*;

#[node(crate = "flow_runtime")] //~
fn greet(name: &str) -> String {
    format!("Hello {name}")
}

flow! {
    Greet(name: String) -> (greet: String) {
        start >> greet >> end;
    }
}

fn main() {}
