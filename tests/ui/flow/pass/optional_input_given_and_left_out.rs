#![deny(warnings)]
use flow_runtime::prelude::*;

#[node]
fn greet(name: Option<&str>, times: Option<u64>) -> String { name.unwrap_or("you").repeat(times.unwrap_or(1) as usize) }
flow! {
    Greeting(name: Option<String>, times: Option<u64>) -> (greet: String) {
        start >> greet >> end;
    }
}
fn main() {
    let _ = GreetingInput::builder().build();
    let _ = GreetingInput::builder().times(2).name("me".into()).build();
}
