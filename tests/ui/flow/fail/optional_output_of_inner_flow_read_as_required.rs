use flow_runtime::prelude::*;

#[node]
fn find(note: Option<&str>) -> u64 { note.map_or(0, |_| 1) }
flow! {
    Search(note: Option<String>) -> (note: Option<String>, find: u64) {
        start >> find >> end;
    }
}
#[node]
fn show(found: &str) { let _ = found; }
flow! {
    Show() {
        node search: Search { note -> found };
        start >> search >> show >> end; //~
    }
}

fn main() {}
