// Nothing says of which type the key is: it is only added to.
use flow_runtime::prelude::*;

#[node(writes = +log)]
fn note() -> String { "begun".to_owned() }
#[node(writes = +log)]
fn close() -> String { "done".to_owned() }

flow! {
    Notes() {
        start >> note >> //~
            close >> end;
    }
}

fn main() {}
