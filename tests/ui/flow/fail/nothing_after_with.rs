use flow_runtime::prelude::*;

#[node]
fn pay() {}

flow! {
    Order() {
        node payment: pay with; //~
        start >> payment >> end;
    }
}

fn main() {}
