use flow_runtime::prelude::*;

#[node]
fn draw() {}

flow! {
    Book() {
        start >> [draw >> end, end] >> end; //~ //~
    }
}

fn main() {}
