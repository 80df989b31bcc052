use flow_runtime::prelude::*;

struct Draft;
struct Page;
#[node(writes = draft)]
fn write() -> Draft { Draft }
#[node]
fn show(draft: &Draft) { let _ = draft; }

flow! {
    Shown(page: Page) {
        start >> write >> show { draft <- page } >> end; //~
    }
}

fn main() {}
