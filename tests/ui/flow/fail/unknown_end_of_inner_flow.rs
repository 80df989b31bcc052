use flow_runtime::prelude::*;

#[node]
fn pay() {}

flow! {
    Payment() {
        start >> pay >> end("paid");
    }
}

flow! {
    Order() {
        start >> Payment;
        Payment - "payed" >> end; //~
    }
}

fn main() {}
