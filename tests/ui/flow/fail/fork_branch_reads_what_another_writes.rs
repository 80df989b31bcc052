// CF-07
use flow_runtime::prelude::*;

#[node]
fn draw() -> u64 { 1 }
#[node]
fn frame(draw: &u64) -> u64 { draw + 1 }

flow! {
    Book(draw: u64) -> (frame: u64) {
        start >> [draw, frame] >> end; //~
    }
}

fn main() {}
