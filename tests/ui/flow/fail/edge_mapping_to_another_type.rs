use flow_runtime::prelude::*;

#[node(writes = draft)]
fn write() -> String { String::new() }
#[node]
fn show(draft: &str) { let _ = draft; }

flow! {
    Shown(count: u64) {
        start >> write >> show { draft <- count } >> end; //~
    }
}

fn main() {}
