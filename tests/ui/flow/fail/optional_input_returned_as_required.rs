use flow_runtime::prelude::*;

#[node]
fn greet(name: Option<&str>) {
    let _ = name;
}

flow! {
    Greeting(name: Option<String>) -> (name: String) {
        start >> greet >> end; //~
    }
}

fn main() {}
