use flow_runtime::prelude::*;

#[node]
fn draw() {}
#[node]
fn rest() {}

flow! {
    Book() {
        start >> [draw, rest] >> end;
        draw >> end; //~
    }
}

fn main() {}
