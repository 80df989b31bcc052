use flow_runtime::prelude::*;

#[node]
fn pay(amount: &u64) -> u64 {
    *amount
}

flow! {
    Payment(amount: u64) {
        start >> pay >> end;
    }
}

fn main() {
    PaymentInput::builder().amount(3).amount(4).build(); //~
}
