use flow_runtime::prelude::*;

#[node]
fn pay() {}
#[node]
fn ship() {}

flow! {
    Order() {
        start >> pay >> end >> ship; //~
        ship >> end;
    }
}

fn main() {}
