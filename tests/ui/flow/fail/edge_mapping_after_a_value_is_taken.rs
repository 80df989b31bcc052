use flow_runtime::prelude::*;

struct Draft;
#[node]
fn show(draft: &Draft) { let _ = draft; }
#[node]
fn keep(page: Draft) { let _ = page; }

flow! {
    Shown(page: Draft) {
        start >> keep >> show { draft <- page } >> end; //~
    }
}

fn main() {}
