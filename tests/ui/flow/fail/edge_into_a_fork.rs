use flow_runtime::prelude::*;

#[derive(Action)]
enum Sure { Yes, No }
#[node(actions = Sure)]
fn ask() -> Sure { Sure::Yes }
#[node]
fn draw() {}
#[node]
fn rest() {}
flow! {
    Book() {
        start >> ask;
        ask - "yes" >> [draw, rest] >> end;
        ask - "no" >> draw; //~
    }
}

fn main() {}
