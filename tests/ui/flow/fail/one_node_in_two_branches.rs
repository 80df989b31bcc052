use flow_runtime::prelude::*;

#[node]
fn draw() {}

flow! {
    Book() {
        start >> [draw, draw] >> end; //~
    }
}

fn main() {}
