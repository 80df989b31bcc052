use flow_runtime::prelude::*;

#[node]
fn mail() {}
#[node]
fn print() {}

flow! {
    Shop() {
        node letter: mail with was = "fork"; //~
        start >> [letter, print] >> end;
    }
}

fn main() {}
