use flow_runtime::prelude::*;

#[node(writes = draft)]
fn write() -> String { String::new() }

flow! {
    Written() -> (text: String) {
        start >> write >> end { txet <- draft }; //~
    }
}

fn main() {}
