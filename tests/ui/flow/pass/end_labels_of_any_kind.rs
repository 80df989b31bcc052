#![deny(warnings)]
use flow_runtime::prelude::*;

#[derive(Action)]
enum Way { A, B, C, D }
#[node(actions = Way)]
fn choose() -> Way { Way::A }
flow! {
    Ways() {
        start >> choose;
        choose - "a" >> end("in_the_end"); choose - "b" >> end("2nd"); choose - "c" >> end("not-found");
        choose - "d" >> end("default");
    }
}
fn main() {
    let ends: Vec<&str> = WaysEnd::ALL.iter().map(|end| end.as_str()).collect();
    assert_eq!(ends, ["in_the_end", "2nd", "not-found", "default"]);
}
