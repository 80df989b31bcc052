use flow_runtime::prelude::*;

#[node]
fn pay() {}
#[node]
fn ship() {}

flow! {
    Order() {
        start >> pay, //~
        pay >> ship >> end;
    }
}

fn main() {}
