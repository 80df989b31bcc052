use flow_runtime::prelude::*;

#[node]
fn show(text: &str) { let _ = text; }
#[node]
fn wake() {}

flow! {
    Shown(draft: String) {
        start >> [wake >> show { text <- draft }, wake] >> end; //~
    }
}

fn main() {}
