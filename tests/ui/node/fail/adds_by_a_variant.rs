// The setting stands before the variant, not before its field.
use flow_runtime::prelude::*;

#[derive(Action)]
enum Found {
    #[action(add)] //~
    Some { log: String },
    Nothing,
}
#[node(actions = Found)]
fn search(text: &str) -> Found {
    if text.is_empty() { Found::Nothing } else { Found::Some { log: text.to_owned() } }
}

fn main() {}
