use flow_runtime::prelude::*;

#[node]
fn greet(name: &str) -> String { name.to_owned() }

flow! {
    Greeting(name: String) -> (greet: String) {
        start >> greet >> end;
    }; //~
}

fn main() {}
