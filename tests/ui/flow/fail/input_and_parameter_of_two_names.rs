use flow_runtime::prelude::*;

#[node(writes = text)]
fn draft(subject: &str) -> String { format!("on {subject}") }

flow! {
    Essay(topic: String) -> (text: String) {
        start >> draft >> end; //~
    }
}

fn main() {}
