// The `+` stands before what is returned, not before the key.
use flow_runtime::prelude::*;

#[node]
fn look_up() -> String { "begun".to_owned() }

flow! {
    Notes() -> (notes: Vec<String>) {
        node look_up: look_up { +look_up -> notes }; //~
        start >> look_up >> end;
    }
}

fn main() {}
