// CF-04
use flow_runtime::prelude::*;

#[node]
fn pay() {}
#[node]
fn ship() {}

flow! {
    Order() {
        node step: pay;
        node step: ship; //~
        start >> step >> end;
    }
}

fn main() {}
