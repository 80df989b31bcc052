// The setting of a field is misspelt.
use flow_runtime::prelude::*;
#[derive(Action)]
enum Found {
    Some { #[action(added)] log: String }, //~
    Nothing,
}
#[node(actions = Found)]
fn search(text: &str) -> Found {
    if text.is_empty() { Found::Nothing } else { Found::Some { log: text.to_owned() } }
}
flow! {
    Search(text: String) -> (log: Option<Vec<String>>) {
        start >> search;
        search - "some" >> end;
        search - "nothing" >> end;
    }
}
fn main() {}
