use flow_runtime::prelude::*;

#[node]
fn show(text: &str) { let _ = text; }

flow! {
    Shown(draft: String) {
        start { text <- draft } >> show >> end; //~
    }
}

fn main() {}
