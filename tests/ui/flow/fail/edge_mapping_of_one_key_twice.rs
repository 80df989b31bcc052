use flow_runtime::prelude::*;

#[node]
fn show(draft: &str) { let _ = draft; }

flow! {
    Shown(old: String, new: String) {
        start >> show { draft <- old, draft <- new } >> end; //~
    }
}

fn main() {}
