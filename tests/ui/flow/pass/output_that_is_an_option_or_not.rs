#![deny(warnings)]
use flow_runtime::prelude::*;

#[derive(Action)]
enum Found { Yes { place: u64 }, No }
#[node(actions = Found)]
fn find() -> Found { Found::Yes { place: 3 } }
flow! { Search() -> (place: Option<u64>) { start >> find; find - "yes" >> end; find - "no" >> end("lost"); } }
#[node]
fn show(place: &u64) -> u64 { *place }
flow! {
    Showing(place: u64) -> (show: u64) {
        start >> Search >> show >> end;
        Search - "lost" >> show;
    }
}

fn main() {}
