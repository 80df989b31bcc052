use flow_runtime::prelude::*;

#[node(writes = text)]
fn draft(topic: &str) -> String { format!("on {topic}") }

flow! { Essay(topic: String) -> (text: String) { start >> draft >> end; } }

flow! {
    Magazine(theme: String) -> (text: String) {
        start >> Essay >> end; //~
    }
}

fn main() {}
