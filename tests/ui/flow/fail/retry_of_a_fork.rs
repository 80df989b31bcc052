use flow_runtime::prelude::*;

#[node]
fn draw() {}
#[node]
fn rest() {}

flow! {
    Book() {
        node both: [draw, rest] with retry(attempts = 3); //~
        start >> both >> end;
    }
}

fn main() {}
