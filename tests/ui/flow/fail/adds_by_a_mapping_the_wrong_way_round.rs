// The key comes first, and what is returned is behind the `+`.
use flow_runtime::prelude::*;

#[node]
fn look_up() -> String { "begun".to_owned() }

flow! {
    Notes() -> (notes: Vec<String>) {
        node look_up: look_up { notes -> +look_up }; //~
        start >> look_up >> end;
    }
}

fn main() {}
