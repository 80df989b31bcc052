use flow_runtime::prelude::*;

#[node]
fn show(text: &str) { let _ = text; }

flow! {
    Shown(draft: String) {
        node show: show { text <- page };
        start >> show { text <- draft } >> end; //~
    }
}

fn main() {}
