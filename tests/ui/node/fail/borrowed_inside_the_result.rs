use flow_runtime::prelude::*;

#[node]
fn words(text: &str) -> Vec<&str> { //~
    text.split(' ').collect()
}

flow! {
    Words(text: String) -> (words: Vec<String>) {
        start >> words >> end;
    }
}

fn main() {}
