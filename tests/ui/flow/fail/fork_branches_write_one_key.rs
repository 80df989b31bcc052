use flow_runtime::prelude::*;

#[node(writes = picture)]
fn draw() -> u64 { 1 }
#[node(writes = picture)]
fn paint() -> u64 { 2 }
#[node]
fn show(picture: &u64) { let _ = picture; }

flow! {
    Book() {
        start >> [draw, paint] >> show >> end; //~
    }
}

fn main() {}
