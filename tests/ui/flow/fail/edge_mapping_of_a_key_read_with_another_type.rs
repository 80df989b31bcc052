use flow_runtime::prelude::*;

#[node]
fn show(draft: &str) { let _ = draft; }

flow! {
    Shown(count: u64) {
        start >> show { draft <- count } >> end; //~
    }
}

fn main() {}
