use flow_runtime::prelude::*;

#[node]
fn pay() {}

flow! {
    Payment() {
        node payment: pay with retry(attempts = 3); //~
        start >> payment >> end;
    }
}

fn main() {}
