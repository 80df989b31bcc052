use flow_runtime::prelude::*;

#[node]
fn pay(amount: String) -> Result<u64, String> {
    amount.parse().map_err(|_| amount)
}

flow! {
    Payment(amount: String) {
        node pay: pay with retry(attempts = 3); //~
        start >> pay >> end;
    }
}

fn main() {}
