use flow_runtime::prelude::*;

#[derive(Action)]
enum Drawn { Well, Badly }
#[node(actions = Drawn)]
fn draw() -> Drawn { Drawn::Well }
#[node]
fn rest() {}

flow! {
    Book() {
        start >> [draw, rest] >> end; //~
    }
}

fn main() {}
