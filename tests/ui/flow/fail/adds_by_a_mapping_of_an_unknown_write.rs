// The mapping names a result that the node does not have.
use flow_runtime::prelude::*;

#[node]
fn look_up() -> String { "begun".to_owned() }

flow! {
    Notes() -> (notes: Vec<String>) {
        node look_up: look_up { lookup -> +notes }; //~
        start >> look_up >> end;
    }
}

fn main() {}
