use flow_runtime::prelude::*;

#[node]
fn greet(name: &str) {
    let _ = name;
}

flow! {
    Greeting(name: Option<String>) {
        start >> greet >> end; //~
    }
}

fn main() {}
