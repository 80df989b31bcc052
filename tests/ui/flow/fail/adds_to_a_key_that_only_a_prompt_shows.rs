// Nothing says of which type the key is: a prompt shows any.
use flow_runtime::prelude::*;
use serde::{Deserialize, Serialize};

#[node(writes = +log)]
fn note() -> String { "begun".to_owned() }
#[node(human = "Go on after {log}?")]
#[derive(Serialize, Deserialize)]
enum Approval { Yes, No }

flow! {
    Notes() {
        start >> note >> Approval; //~
        Approval - "yes" >> end;
        Approval - "no" >> end("stopped");
    }
}

fn main() {}
