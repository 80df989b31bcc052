use flow_runtime::prelude::*;

#[node]
fn pay(amount: &u64) { let _ = amount; }

flow! {
    Payment(amount: u64) {
        start >> pay >> end;
    }
}

fn main() {
    PaymentInput::builder().amount("three").build(); //~
}
