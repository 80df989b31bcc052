use flow_runtime::prelude::*;

#[node]
fn pay(amount: &u64) { let _ = amount; }
flow! {
    Payment(price: u64) {
        namespace "a..b"; //~
        node start: pay; //~
        node pay: pay { amount <- price };
        node pay: pay; //~
        node later: pay with timeout = "soon", prority = 3; //~ //~
        start >> pay >> end("!"); //~
    }
}

fn main() {}
