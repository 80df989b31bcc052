use flow_runtime::prelude::*;

#[node]
fn draw() -> u64 { 1 }
#[node]
fn rest() {}
#[node]
fn show(picture: &u64) { let _ = picture; }

flow! {
    Book() {
        start >> [draw, rest] >> show >> end; //~
    }
}

fn main() {}
