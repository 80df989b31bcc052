// Two actions add values of two types, of which the list takes one.
use flow_runtime::prelude::*;
#[derive(Action)]
enum Found {
    One { #[action(add)] log: String },
    Many { #[action(add)] log: u64 },
}
#[node(actions = Found)]
fn search(text: &str) -> Found {
    if text.is_empty() { Found::Many { log: 3 } } else { Found::One { log: text.to_owned() } }
}
flow! {
    Search(text: String) -> (log: Vec<String>) {
        start >> search; //~
        search - "one" >> end;
        search - "many" >> end("many");
    }
}
fn main() {}
